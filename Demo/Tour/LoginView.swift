/// How the login screen looks.
struct LoginView {
  let server: SandboxDescription
  let screen: Coordinator.Screen
  /// Tenths of a second since the sign-in began.
  let ticks: Int

  func page(_ canvas: Canvas) -> Page {
    var page = Page(
      title: "SequencingOAuth demo", status: Span("not signed in", .faint), body: [], keys: [])
    switch screen {
    case .login(let notice):
      page.body = invitation(canvas) + Self.notice(notice, canvas)
      page.keys = [
        KeyHint("enter", "sign in"), KeyHint("s", "sign in without a browser"),
        KeyHint("f", "read files"), KeyHint("q", "quit"),
      ]
    case .waiting(let waiting):
      page.status = Span("signing in", .warning)
      page.body = self.waiting(waiting, canvas)
      page.keys = Self.keys(waiting)
    case .main:
      break
    }
    return page
  }

  private func invitation(_ canvas: Canvas) -> [Line] {
    [Line(Span("Please sign in.", .heading)), .blank]
      + canvas.paragraph(
        "This is the login screen of an app. It sends you to an authorization server in your "
          + "browser and gets a token back; it never sees your password. The server is a sandbox "
          + "inside this program.")
      + [.blank] + credentials(canvas)
  }

  private func credentials(_ canvas: Canvas) -> [Line] {
    [
      canvas.field("server", Span(server.issuer)),
      canvas.field("user", Span(server.user)),
      canvas.field("password", Span(server.password)),
    ]
  }

  /// What became of the last sign-in.
  static func notice(_ notice: Coordinator.Notice?, _ canvas: Canvas) -> [Line] {
    switch notice {
    case nil: []
    case .cancelled: [.blank] + canvas.paragraph("You did not sign in.", .warning)
    case .failed(let code, let message):
      [.blank] + canvas.paragraph("\(canvas.glyphs.failure) \(code): \(message)", .bad)
    case .ended(let code, let message):
      [.blank] + canvas.paragraph("Your session has ended.", .warning)
        + canvas.paragraph("\(code): \(message)", .faint)
    }
  }

  private func waiting(_ waiting: Coordinator.Waiting, _ canvas: Canvas) -> [Line] {
    let spinner = canvas.glyphs.spinner[ticks % canvas.glyphs.spinner.count]
    let text =
      switch waiting.player {
      case .browser:
        waiting.isForFiles
          ? "Reading the files needs access: waiting for the browser" : "Waiting for the browser"
      case .visitor: "The sandbox's visitor signs in as \(server.user)"
      }
    var lines = [
      Line(
        Span(spinner + " ", .accent), Span(text, .heading), Span("  \(ticks / 10) s", .faint)),
      .blank,
    ]
    if let problem = waiting.problem {
      // What follows is advice for the developer of an app.
      let reason = problem.prefix { $0 != ";" }
      lines += canvas.paragraph("No browser was opened: \(reason).", .warning) + [.blank]
    }
    if waiting.showsAddress, let address = waiting.address {
      lines += canvas.paragraph("Open this address in a browser on this machine:")
      lines += [.blank, .address(address), .blank]
    }
    return lines + credentials(canvas)
  }

  private static func keys(_ waiting: Coordinator.Waiting) -> [KeyHint] {
    var keys: [KeyHint] = []
    if waiting.player == .browser { keys.append(KeyHint("s", "sign in without a browser")) }
    if !waiting.showsAddress { keys.append(KeyHint("a", "show the address")) }
    return keys + [KeyHint("esc", "cancel"), KeyHint("q", "quit")]
  }
}
