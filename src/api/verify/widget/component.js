// <trunkline-verify src="the hosted url"></trunkline-verify>: shows the widget, and fires `approved`, `expired` or
// `canceled` when the verification ends. The event's detail names the session, the verification and its service.
;(() => {
  if (customElements.get('trunkline-verify')) return

  class TrunklineVerify extends HTMLElement {
    static observedAttributes = ['src']
    #frame
    #origin

    connectedCallback() {
      window.addEventListener('message', this.#hear)
      this.#show()
    }

    disconnectedCallback() {
      window.removeEventListener('message', this.#hear)
      this.#frame?.remove()
      this.#frame = undefined
    }

    attributeChangedCallback() {
      if (this.isConnected) this.#show()
    }

    #show() {
      const src = this.getAttribute('src')
      if (!src) return
      this.#frame?.remove()
      const url = new URL(src, document.baseURI)
      this.#origin = url.origin
      const frame = document.createElement('iframe')
      frame.title = this.getAttribute('frame-title') ?? 'Verify your number'
      frame.referrerPolicy = 'no-referrer'
      Object.assign(frame.style, { border: '0', width: '100%', height: '26rem', display: 'block' })
      frame.src = url.href
      this.#frame = frame
      this.append(frame)
    }

    // Only from the frame itself, and only while it shows what we put there.
    #hear = (event) => {
      const { data } = event
      if (!this.#frame || event.source !== this.#frame.contentWindow || event.origin !== this.#origin) return
      if (data?.type !== 'trunkline.verify') return
      const { status, session_id, verification_sid, service_sid } = data
      const detail = { status, session_id, verification_sid, service_sid }
      this.dispatchEvent(new CustomEvent(status, { detail, bubbles: true }))
    }
  }

  customElements.define('trunkline-verify', TrunklineVerify)
})()
