/** The title of the tab: what is unseen, then the page. */
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
