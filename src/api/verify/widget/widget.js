// The page of a verification: shows the code, watches for its end, and tells the site that frames it.
;(() => {
  const POLL_MS = 1500
  const WORDS = {
    pending: 'Waiting for your text…',
    approved: 'Your number is verified.',
    expired: 'The code has expired. Please start again.',
    canceled: 'This verification was canceled.',
  }
  const part = (id) => document.getElementById(id)
  const session = location.pathname.split('/').pop()
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''

  let deadline = 0
  let shown = ''
  let timer

  async function ask() {
    const response = await fetch(`${session}/state`, {
      method: 'POST',
      headers: { 'x-verify-token': token },
      cache: 'no-store',
      credentials: 'omit',
    })
    if (response.status === 404) return null
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    return response.json()
  }

  async function look() {
    clearTimeout(timer)
    let state
    try {
      state = await ask()
    } catch {
      say('pending', shown ? 'The connection is lost. Trying again…' : 'Trying to connect…')
      timer = setTimeout(look, POLL_MS * 2)
      return
    }
    if (!state) {
      part('task').hidden = true
      say('lost', 'This link is not valid. Please start again.')
      return
    }
    show(state)
    if (state.status === 'pending') timer = setTimeout(look, POLL_MS)
  }

  function show(state) {
    if (shown === '') dress(state)
    const pending = state.status === 'pending'
    if (pending) {
      deadline = performance.now() + state.expires_in * 1000
      fill(state)
      tick()
    }
    part('task').hidden = !pending
    if (state.status === shown) return
    shown = state.status
    say(state.status, WORDS[state.status])
    if (!pending) tell(state)
  }

  function dress({ brand_name, accent_color }) {
    part('brand').textContent = brand_name
    document.title = `Verify your number: ${brand_name}`
    if (!accent_color) return
    const root = document.documentElement.style
    root.setProperty('--accent', `#${accent_color}`)
    root.setProperty('--on-accent', brightness(accent_color) > 0.179 ? '#000000' : '#ffffff')
  }

  // Relative luminance by WCAG: above 0.179, black is the more readable of the two.
  function brightness(hex) {
    const [red, green, blue] = [0, 2, 4].map((at) => {
      const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }

  function fill({ to, code, pool_number, sms_deep_link }) {
    if (part('code').textContent === code) return
    part('to').textContent = to
    part('code').textContent = code
    // For screen readers digit by digit, and not as hundreds of thousands.
    part('spoken').textContent = [...code].join(' ')
    part('pool').textContent = pool_number
    part('send').href = sms_deep_link
  }

  function tick() {
    const seconds = Math.max(0, Math.ceil((deadline - performance.now()) / 1000))
    part('left').textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  }

  function say(status, words) {
    part('state').dataset.status = status
    if (part('state').textContent !== words) part('state').textContent = words
  }

  function tell({ status, parent_origin, verification_sid, service_sid }) {
    if (window.parent === window) return
    const message = { type: 'trunkline.verify', status, session_id: session, verification_sid, service_sid }
    window.parent.postMessage(message, parent_origin)
  }

  setInterval(tick, 1000)
  // Back from the message app: see at once what became of it.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && (shown === 'pending' || shown === '')) look()
  })
  look()
})()
