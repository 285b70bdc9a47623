// Before the first paint: a page must not flash in the wrong colours.
try {
  const theme = localStorage.getItem('trunkline.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage the system's wish counts.
}
