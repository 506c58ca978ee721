/// The view that draws the login screen.
struct LoginView {
  let server: TourServer
  let screen: Coordinator.Screen
  /// The seconds since the sign-in began.
  let seconds: Int

  func page(_ canvas: Canvas) -> Page {
    var page = Page(
      title: "SequencingOAuth demo", status: Span("not signed in", .faint), body: [], keys: [])
    switch screen {
    case .login(let notice):
      page.body = invitation(canvas) + Self.notice(notice, canvas)
      page.keys =
        [KeyHint("enter", "sign in")] + alone
        + [KeyHint("f", "read files"), KeyHint("q", "quit")]
    case .waiting(let waiting):
      page.status = Span("signing in", .warning)
      page.body = self.waiting(waiting, canvas)
      page.keys = keys(waiting)
    case .main:
      break
    }
    return page
  }

  /// The hint for the key on the keyboard that lets the sandbox's simulated user sign in.
  private var alone: [KeyHint] {
    server.isSandbox ? [KeyHint("s", "sign in without a browser")] : []
  }

  private func invitation(_ canvas: Canvas) -> [Line] {
    let words =
      "This is the login screen of an app. It sends you to an authorization server in your "
      + "browser and gets a token back; it never sees your password."
      + (server.isSandbox ? " The server is a sandbox inside this program." : "")
    return [Line(Span("Please sign in.", .heading)).weighing(.progress), .blank]
      + canvas.paragraph(words).weighing(.detail) + [.blank] + credentials(canvas)
  }

  /// Returns the server with the account or, at the sandbox, with the user's name and password.
  private func credentials(_ canvas: Canvas) -> [Line] {
    guard let user = server.user else { return Self.account(server, canvas).weighing(.context) }
    return [
      canvas.field("server", Span(server.name)).weighing(.context),
      canvas.field("user", Span(user.name)).weighing(.needed),
      canvas.field("password", Span(user.password)).weighing(.needed),
    ]
  }

  /// Returns the server and the account, or nothing for the built-in sandbox.
  static func account(_ server: TourServer, _ canvas: Canvas) -> [Line] {
    guard !server.isSandbox else { return [] }
    return [canvas.field("server", Span(server.name))]
      + (server.account.map { [canvas.field("account", Span($0))] } ?? [])
  }

  /// Returns the lines that say why no user is signed in; none if the user signed out.
  static func notice(_ notice: Coordinator.Notice?, _ canvas: Canvas) -> [Line] {
    switch notice {
    case nil: []
    case .cancelled: [.blank] + canvas.paragraph("You did not sign in.", .warning)
    case .failed(let code, let message):
      [.blank] + canvas.paragraph("\(canvas.glyphs.failure) \(message) (\(code))", .bad)
    case .ended(let code, let message):
      [.blank] + canvas.paragraph("Your session has ended.", .warning)
        + canvas.paragraph("\(message) (\(code))", .faint)
    }
  }

  private func waiting(_ waiting: Coordinator.Waiting, _ canvas: Canvas) -> [Line] {
    let spinner = canvas.glyphs.spinner[seconds % canvas.glyphs.spinner.count]
    let text =
      switch waiting.player {
      case .browser:
        waiting.isForFiles
          ? "Reading the files needs access: waiting for the browser" : "Waiting for the browser"
      case .visitor:
        "The sandbox's simulated user signs in" + (server.user.map { " as \($0.name)" } ?? "")
      }
    let title = [Span(spinner + " ", .accent), Span(text, .heading)]
    let whole = Line(spans: title + [Span("  \(time)", .faint)])
    // On a narrow terminal the end of the line would be cut off: the user, or the time.
    let isWhole = TextLayout.columns(whole.text) <= canvas.width
    var lines =
      if isWhole {
        [whole.weighing(.progress)]
      } else {
        canvas.paragraph("\(spinner) \(text)", .heading).weighing(.progress)
          + [Line(Span("  \(time)", .faint)).weighing(.detail)]
      }
    lines.append(.blank)
    for remark in waiting.remarks {
      lines += canvas.paragraph(remark, .warning).weighing(.reason) + [.blank]
    }
    if waiting.showsAddress, let address = waiting.address {
      let isNarrow = canvas.width < 48
      lines += canvas.paragraph(
        isNarrow
          ? "Open in a browser on this machine:" : "Open this address in a browser on this machine:"
      ).weighing(.context)
      lines += [.blank, .address(address), .blank]
    }
    return lines + credentials(canvas)
  }

  /// The time so far and, if it is known, the time limit.
  private var time: String {
    server.limit.map { "\(seconds) of \($0.components.seconds) s" } ?? "\(seconds) s"
  }

  private func keys(_ waiting: Coordinator.Waiting) -> [KeyHint] {
    let alone = waiting.player == .browser ? alone : []
    let address = waiting.showsAddress ? [] : [KeyHint("a", "show the address")]
    return alone + address + [KeyHint("esc", "cancel"), KeyHint("q", "quit")]
  }
}
