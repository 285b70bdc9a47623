/** The title of the browser tab: the number of unseen messages, then the page. */
let page = ''
let unseen = 0

function show() {
  document.title = `${unseen > 0 ? `(${unseen}) ` : ''}${page} · Trunkline`
}

export const TITLE = {
  setPage(title: string) {
    page = title
    show()
  },
  setUnseen(count: number) {
    unseen = count
    show()
  },
}
