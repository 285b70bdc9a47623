// Drawings that the scene sends as pictures.
export const PAINTINGS = {
  terrace: `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="340" viewBox="0 0 480 340">
  <defs><linearGradient id="s" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#f7b267"/><stop offset=".55" stop-color="#f4845f"/><stop offset="1" stop-color="#7a4e7e"/></linearGradient></defs>
  <rect width="480" height="340" fill="url(#s)"/><circle cx="330" cy="120" r="42" fill="#ffe2a8"/>
  <path d="M0 205 Q120 165 240 200 T480 190 V340 H0Z" fill="#5b3b66"/><path d="M0 235 Q150 205 300 240 T480 230 V340 H0Z" fill="#43294f"/>
  <g stroke="#2a1a33" stroke-width="3"><path d="M0 60 Q240 120 480 50" fill="none"/></g>
  <g fill="#fff1c9"><circle cx="60" cy="80" r="7"/><circle cx="140" cy="96" r="7"/><circle cx="220" cy="101" r="7"/><circle cx="300" cy="96" r="7"/><circle cx="380" cy="82" r="7"/></g>
  <g fill="#2f4f3a"><circle cx="56" cy="215" r="38"/><circle cx="98" cy="228" r="30"/></g><g fill="#f6d743"><circle cx="42" cy="205" r="7"/><circle cx="70" cy="222" r="7"/><circle cx="98" cy="214" r="7"/></g>
  <ellipse cx="270" cy="285" rx="110" ry="16" fill="#f3e9dc"/><rect x="262" y="285" width="16" height="60" fill="#d8c7b4"/>
  <g fill="#c1442e"><path d="M236 262 h16 l-4 18 h-8z"/><path d="M290 262 h16 l-4 18 h-8z"/></g></svg>`,
  pasta: `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="340" viewBox="0 0 480 340">
  <rect width="480" height="340" fill="#e9dcc9"/><path d="M0 0 h480 v70 h-480z" fill="#dccbb2"/>
  <ellipse cx="240" cy="188" rx="180" ry="112" fill="#fffdf8"/><ellipse cx="240" cy="186" rx="138" ry="84" fill="#f2ebe0"/>
  <g fill="none" stroke="#e9b44c" stroke-width="11" stroke-linecap="round"><path d="M160 190 q40 -60 80 -10 t80 -8"/><path d="M165 212 q50 -50 90 -4 t70 -20"/><path d="M180 170 q40 -40 70 4 t60 -18"/><path d="M190 228 q50 -30 80 -2 t50 -26"/></g>
  <g fill="#c8402f"><circle cx="205" cy="172" r="15"/><circle cx="272" cy="208" r="15"/><circle cx="246" cy="160" r="12"/></g>
  <g fill="#3f7d4e"><ellipse cx="230" cy="192" rx="18" ry="9" transform="rotate(-24 230 192)"/><ellipse cx="290" cy="172" rx="17" ry="8" transform="rotate(30 290 172)"/><ellipse cx="190" cy="212" rx="15" ry="7" transform="rotate(18 190 212)"/></g></svg>`,
}
