import SQBasics

extension LoopbackPage {
  /// The style sheet of all pages: system fonts, light and dark colours, large buttons, and a
  /// visible focus.
  static let style: HTML = """
    :root{color-scheme:light dark;--ink:#16212b;--muted:#55626f;--accent:#0f6b5c;\
    --on-accent:#fff;--accent-strong:#0a5347;--tint:#e2f2ee;--alarm:#a8261c;--alarm-tint:#fcebe8;\
    --card:#fff;--line:#d8dfe5;--field:#8494a3;--page:#f4f7f7;--glow:#d8efe8;--glow-2:#e2e6fa;\
    --shadow:0 1px 2px rgba(20,40,50,.06),0 12px 40px -12px rgba(20,40,50,.18)}
    @media(prefers-color-scheme:dark){:root{--ink:#e9eff3;--muted:#a0adb9;--accent:#63cdb6;\
    --on-accent:#04241d;--accent-strong:#86dcc9;--tint:#153630;--alarm:#ff9c90;\
    --alarm-tint:#41211d;--card:#161d23;--line:#2b363f;--field:#6d7d8b;--page:#0c1115;\
    --glow:#11302a;--glow-2:#1a2040;--shadow:0 1px 2px rgba(0,0,0,.4),\
    0 16px 48px -16px rgba(0,0,0,.6)}}
    *{box-sizing:border-box}
    html{-webkit-text-size-adjust:100%}
    body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;\
    padding:2rem 1rem;color:var(--ink);\
    background:radial-gradient(52rem 36rem at 8% -12%,var(--glow),transparent 65%),\
    radial-gradient(46rem 34rem at 106% 4%,var(--glow-2),transparent 62%),var(--page);\
    font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,\
    "Noto Sans",sans-serif}
    main{width:100%;max-width:27rem}
    .brand{display:flex;align-items:center;justify-content:center;gap:.5rem;margin:0 0 1.25rem;\
    color:var(--muted);font-size:.9375rem;font-weight:600;letter-spacing:.01em}
    .brand svg{color:var(--accent)}
    .brand .tile{display:grid;place-items:center;width:1.75rem;height:1.75rem;border-radius:.5rem;\
    background:var(--tile,var(--accent));color:var(--on-tile,var(--on-accent))}
    .brand .tile+span{color:var(--on-page,var(--ink));overflow-wrap:anywhere}
    .card{background:var(--card);border:1px solid var(--line);border-radius:1.25rem;\
    padding:2.25rem 2rem 2rem;box-shadow:var(--shadow)}
    .mark{width:3.5rem;height:3.5rem;border-radius:50%;display:grid;place-items:center;\
    margin:0 auto 1.125rem;background:var(--tint);color:var(--accent)}
    .mark.failure{background:var(--alarm-tint);color:var(--alarm)}
    .mark.person{font-size:1.5rem;font-weight:650}
    [data-letter]::before{content:attr(data-letter)}
    h1{margin:0;text-align:center;font-size:1.5rem;line-height:1.25;font-weight:680;\
    letter-spacing:-.012em;text-wrap:balance;overflow-wrap:anywhere}
    .card>p{margin:.625rem 0 0;text-align:center;color:var(--muted);text-wrap:balance;\
    overflow-wrap:anywhere}
    .card>p strong{color:var(--ink);font-weight:600}
    form{margin:1.625rem 0 0}
    label{display:block;margin:1rem 0 .375rem;font-weight:600;font-size:.9375rem}
    input{width:100%;min-height:3rem;padding:.625rem .875rem;border:1px solid var(--field);\
    border-radius:.75rem;background:transparent;color:inherit;font:inherit}
    input[aria-invalid=true]{border-color:var(--alarm)}
    input[autofocus]{scroll-margin-top:11rem}
    input[autofocus][aria-invalid=true]{scroll-margin-top:17rem}
    .note{margin:0 0 .375rem;color:var(--muted);font-size:.9375rem}
    button{width:100%;min-height:3rem;padding:.625rem 1rem;border-radius:.75rem;\
    border:1px solid transparent;background:var(--accent);color:var(--on-accent);font:inherit;\
    font-weight:650;cursor:pointer}
    button:hover{background:var(--accent-strong)}
    button.quiet{background:transparent;border-color:var(--field);color:var(--ink)}
    button.quiet:hover{background:var(--tint);border-color:var(--accent)}
    .act{margin-top:1.5rem}
    .choices{display:grid;grid-template-columns:1fr 1fr;gap:.75rem;margin-top:1.5rem}
    .link{display:inline;width:auto;min-height:2.75rem;padding:.25rem .5rem;border:0;\
    background:transparent;color:var(--accent);font-size:.9375rem;text-decoration:underline;\
    text-underline-offset:.2em}
    .link:hover{background:transparent;text-decoration-thickness:2px}
    .aside{margin:1rem 0 -.75rem;text-align:center;color:var(--muted);font-size:.9375rem}
    .aside button{margin:0}
    :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
    .alert{display:flex;gap:.625rem;margin:1.5rem 0 0;padding:.75rem .875rem;\
    border-radius:.75rem;background:var(--alarm-tint);color:var(--alarm);font-size:.9375rem;\
    font-weight:550}
    .alert svg{flex:none;margin-top:.0625rem}
    .rights{list-style:none;margin:1.5rem 0 0;padding:0;border:1px solid var(--line);\
    border-radius:.875rem;font-size:.9375rem}
    .rights li{display:flex;gap:.75rem;align-items:flex-start;padding:.8125rem 1rem}
    .rights span{text-wrap:pretty}
    .rights li+li{border-top:1px solid var(--line)}
    .rights svg{flex:none;margin-top:.1875rem;color:var(--accent)}
    .facts{margin:1.5rem 0 0;padding:.25rem 1rem;border:1px solid var(--line);\
    border-radius:.875rem;font-size:.9375rem}
    .facts div{padding:.6875rem 0}
    .facts div+div{border-top:1px solid var(--line)}
    .facts dt{color:var(--muted)}
    .facts dd{margin:.125rem 0 0;overflow-wrap:anywhere}
    code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;\
    font-size:.875em}
    .code{margin:0;text-align:center}
    .code code{font-size:1.75rem;font-weight:600;letter-spacing:.06em}
    footer{margin:1.25rem 1rem 0;text-align:center;color:var(--muted);font-size:.875rem;\
    text-wrap:balance}
    footer p{margin:0 0 .375rem}
    @media(max-width:30rem){body{padding:1.25rem .75rem;place-items:start center}\
    .card{padding:1.75rem 1.25rem 1.5rem;border-radius:1rem}h1{font-size:1.375rem}}
    @media(forced-colors:active){button,.mark,.alert{border:1px solid}}
    """
}
