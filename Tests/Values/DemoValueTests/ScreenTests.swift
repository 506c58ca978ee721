import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import sq_demo

@Suite struct `Screens` {
  private static let server = TourServer(
    name: "http://127.0.0.1:8080",
    user: TourServer.User(name: "alice", password: "wonderland"))
  private static let provider = TourServer(name: "Sequencing.com", account: "work")
  private static let start = Date(timeIntervalSince1970: 1_000_000)
  private static let token = SQToken(
    accessToken: "secret-token", expirationDate: start.addingTimeInterval(3600), scope: "a b",
    refreshToken: "secret-refresh", issueDate: start)
  private static let address =
    "http://127.0.0.1:8080/authorize?" + String(repeating: "state=abc&", count: 20)

  private static func login(
    _ screen: Coordinator.Screen, seconds: Int = 0, at server: TourServer = server
  ) -> (Canvas) -> Page {
    { LoginView(server: server, screen: screen, seconds: seconds).page($0) }
  }

  private static func main(
    _ token: SQToken, user: String? = "alice", after seconds: Double,
    at server: TourServer = server, change: @escaping (inout Coordinator.Main) -> Void = { _ in }
  ) -> (Canvas) -> Page {
    var main = Coordinator.Main(token, user: user)
    change(&main)
    return {
      MainView(main: main, date: start.addingTimeInterval(seconds), server: server).page($0)
    }
  }

  private static let news = [
    Coordinator.News(kind: .refreshed, date: start + 890),
    Coordinator.News(
      kind: .failed(code: "connection_failed", message: "it was refused"),
      date: start + 700),
  ]

  private static let challenge =
    "Invalid credentials. Server challenge:\nBearer realm=\"sandbox\", error=\"invalid_token\", "
    + "error_description=\"The access token is unknown, expired or revoked.\""

  private static var pages: [(Canvas) -> Page] {
    let waiting = Coordinator.Waiting(
      player: .browser, address: address, showsAddress: true,
      problem: "No browser was opened: there is no display.")
    return [
      login(.login(notice: nil)), login(.login(notice: .cancelled)),
      login(.login(notice: .failed(code: "server_error", message: "it does not work today"))),
      login(.waiting(waiting), seconds: 12), login(.waiting(.init(player: .visitor))),
      main(token, after: 0), main(token, user: nil, after: 3599), main(token, after: 9999),
      main(SQToken(accessToken: "secret-token"), after: 0),
      main(token, after: 900) {
        $0.news = news
        $0.isRefreshing = true
        $0.isOverAtServer = true
        $0.files = .read(files, isAll: false)
        $0.call = .done("Used scope: profile demo files on behalf of user alice")
      },
      main(token, after: 900) { $0.call = .failed(message: challenge) },
      login(.login(notice: nil), at: provider), login(.waiting(waiting), at: provider),
      main(token, after: 900, at: provider),
      main(token, after: 900) { $0.files = .failed(code: "http_503", message: "come back later") },
      login(.login(notice: .ended(code: "invalid_grant", message: "it was revoked"))),
    ]
  }

  private func lines(
    _ page: (Canvas) -> Page, columns: Int, rows: Int = 40, glyphs: Glyphs = .unicode
  ) -> [Line] {
    let canvas = Canvas(columns: columns, glyphs: glyphs)
    return page(canvas).lines(canvas, columns: columns, rows: rows)
  }

  private func text(_ lines: [Line]) -> String {
    lines.map { line in
      let text = line.isAddress ? line.text : "  " + line.text
      return String(text.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }

  @Test func `the login screen asks to sign in`() {
    #expect(
      text(lines(Self.login(.login(notice: .cancelled)), columns: 80)) == """

          SequencingOAuth demo                                           not signed in
          ────────────────────────────────────────────────────────────────────────────

          Please sign in.

          This is the login screen of an app. It sends you to an authorization server
          in your browser and gets a token back; it never sees your password. The
          server is a sandbox inside this program.

          server    http://127.0.0.1:8080
          user      alice
          password  wonderland

          You did not sign in.

          ────────────────────────────────────────────────────────────────────────────
          enter sign in  ·  s sign in without a browser  ·  f read files  ·  q quit
        """)
  }

  @Test func `a narrow login screen wraps its words and its keys`() {
    #expect(
      text(lines(Self.login(.login(notice: nil)), columns: 40, glyphs: .ascii)) == """

          SequencingOAuth demo   not signed in
          ------------------------------------

          Please sign in.

          This is the login screen of an app.
          It sends you to an authorization
          server in your browser and gets a
          token back; it never sees your
          password. The server is a sandbox
          inside this program.

          server    http://127.0.0.1:8080
          user      alice
          password  wonderland

          ------------------------------------
          enter sign in
          s sign in without a browser
          f read files  |  q quit
        """)
  }

  @Test func `a narrow screen shows the user and the time of a sign-in under way in full`() {
    var server = Self.server
    server.limit = .seconds(300)
    func screen(_ columns: Int) -> String {
      let page = Self.login(.waiting(.init(player: .visitor)), seconds: 12, at: server)
      return text(lines(page, columns: columns, glyphs: .ascii))
    }
    #expect(screen(80).contains("signs in as alice  12 of 300 s\n"))
    #expect(screen(40).contains("signs\n  in as alice\n    12 of 300 s\n"), "\(screen(40))")
  }

  @Test func `the main screen shows the user, the scope and the remaining time`() {
    #expect(
      text(lines(Self.main(Self.token, after: 900), columns: 60)) == """

          SequencingOAuth demo                           signed in
          ────────────────────────────────────────────────────────

          ✓ Signed in as alice

          scope     a b
          token     Bearer, can be refreshed
          expires   in 45 min 0 s
                    ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╸───────────
          files     reading

          The token is refreshed shortly before it expires.

          ────────────────────────────────────────────────────────
          r refresh  ·  f read files  ·  v revoke
          e end the session at the server  ·  o sign out
          q quit
        """)
  }

  @Test(
    arguments: [
      (nil, []), (.notMade, []), (.waiting, ["rpc       Waiting for RPC to complete..."]),
      (.done("Used scope: a on behalf of user b"), ["rpc       Used scope: a on behalf of user b"]),
      (
        .failed(message: challenge),
        [
          "rpc       Invalid credentials. Server challenge:",
          "          Bearer realm=\"sandbox\", error=\"invalid_token\",",
          "          error_description=\"The access token is unknown, expired",
          "          or revoked.\"",
        ]
      ),
    ] as [(Coordinator.Call?, [String])])
  func `the main screen shows the gRPC call`(call: Coordinator.Call?, shown: [String]) {
    let page = lines(Self.main(Self.token, after: 900) { $0.call = call }, columns: 70).map(\.text)
    let start = page.firstIndex { $0.hasPrefix("files ") } ?? 0
    #expect(Array(page[(start + 1)...].prefix(shown.count)) == shown)
    #expect(page.contains { $0.contains("c call") } == (call != nil))
    #expect(page.contains { $0.contains("rpc ") } == !shown.isEmpty)
  }

  @Test func `the main screen shows the delegate's notifications`() {
    let page = Self.main(Self.token, after: 900) {
      $0.news = Self.news
      $0.isRefreshing = true
      $0.isOverAtServer = true
    }
    #expect(
      text(lines(page, columns: 60)).contains(
        """
                    ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╸───────────
          files     reading

          The server has ended the session. The app learns of it
          at the next refresh.

          ✓ Token refreshed  10 s ago
          ✗ Refresh failed  3 min 20 s ago
            it was refused (connection_failed)

        """))
    #expect(text(lines(page, columns: 60)).contains("  refreshing\n"))
  }

  private static let files = ["Read me.txt", "A title that is much longer than there is room.txt"]
    .enumerated().map { index, title in
      DriveFile(id: "f\(index)", title: title, size: 1234 * Int64(index), modified: nil, type: nil)
    }

  @Test(arguments: [
    (
      Coordinator.Files.read(files, isAll: true),
      """
        files     Read me.txt                        0 bytes
                  A title that is much longer than …  1.2 kB
      """
    ),
    (
      .read(files + Array(repeating: files[0], count: 5), isAll: true),
      """
                  Read me.txt                        0 bytes
                  and 2 more

      """
    ),
    (
      .read(files + Array(repeating: files[0], count: 5), isAll: false),
      "            and at least 2 more\n"
    ),
    (.read(files, isAll: false), "            and more\n"), (.reading, "  files     reading\n"),
    (.read([], isAll: true), "  files     none\n"),
    (.failed(code: "http_503", message: "later"), "  files     later (http_503)\n"),
  ])
  func `the main screen shows the files`(files: Coordinator.Files, shown: String) {
    let page = Self.main(Self.token, after: 900) { $0.files = files }
    #expect(text(lines(page, columns: 56)).contains(shown))
  }

  @Test func `the main screen says what happens after the token has expired`() {
    let page = Self.main(Self.token, after: 9999)
    #expect(
      text(lines(page, columns: 80)).contains("expired; it is refreshed as soon as possible"))
    let lost = SQToken(accessToken: "x", expirationDate: Self.start)
    #expect(
      text(lines(Self.main(lost, after: 1), columns: 80)).contains("expired; sign out and in again")
    )
  }

  @Test func `the login screen says why the session ended`() {
    let page = Self.login(.login(notice: .ended(code: "invalid_grant", message: "it was revoked")))
    #expect(
      text(lines(page, columns: 80)).contains(
        """
          Your session has ended.
          it was revoked (invalid_grant)
        """))
  }

  @Test(arguments: [40, 80, 120], [Glyphs.unicode, .ascii])
  func `no line is wider than the window, except an address`(columns: Int, glyphs: Glyphs) {
    for page in Self.pages {
      let lines = lines(page, columns: columns, glyphs: glyphs)
      for line in lines where !line.isAddress {
        #expect(TextLayout.columns(line.text) <= columns - 4, "\(line.text)")
      }
    }
  }

  @Test(arguments: [1, 2, 5, 20], [1, 3, 8, 12])
  func `a tiny window causes no crash and gets no more lines than it has rows`(
    columns: Int, rows: Int
  ) {
    for page in Self.pages {
      #expect(lines(page, columns: columns, rows: rows).count <= rows)
    }
  }

  @Test func `a low window still shows the login and the key commands`() throws {
    let lines = lines(Self.login(.login(notice: nil)), columns: 80, rows: 10)
    #expect(lines.count <= 10)
    #expect(lines.contains { $0.text.contains("password  wonderland") })
    #expect(try #require(lines.last).text.contains("q quit"))
  }

  @Test func `an address is shown in full on a line of its own`() throws {
    let waiting = Coordinator.Waiting(
      player: .browser, address: Self.address, showsAddress: true)
    let lines = lines(Self.login(.waiting(waiting)), columns: 40)
    #expect(lines.filter(\.isAddress).map(\.text) == [Self.address])
  }

  /// A typical authorization address of the sandbox, with nearly 300 characters.
  private static let usualAddress =
    "http://127.0.0.1:36987/authorize?response_type=code&client_id=sq-demo&redirect_uri="
    + "http%3A%2F%2F127.0.0.1%3A42325%2Fcallback&scope=profile%20demo%20files&state="
    + String(repeating: "s", count: 43) + "&code_challenge=" + String(repeating: "c", count: 43)
    + "&code_challenge_method=S256"

  @Test(
    arguments: [(40, 15), (40, 12), (30, 12), (80, 12), (80, 5), (20, 15), (200, 3)],
    [server, provider])
  func `an address is shown in full on a low terminal`(
    size: (columns: Int, rows: Int), server: TourServer
  ) {
    let waiting = Coordinator.Waiting(
      player: .browser, address: Self.usualAddress, showsAddress: true,
      problem: "No browser was opened: there is no display to open a browser on.")
    let lines = lines(
      Self.login(.waiting(waiting), at: server), columns: size.columns, rows: size.rows)
    #expect(lines.filter(\.isAddress).map(\.text) == [Self.usualAddress])
    let rows = lines.map { $0.isAddress ? ($0.text.count + size.columns - 1) / size.columns : 1 }
    #expect(rows.reduce(0, +) <= size.rows)
  }

  @Test func `a terminal of 40 columns and 15 rows shows the address and the login`() {
    let waiting = Coordinator.Waiting(
      player: .browser, address: Self.usualAddress, showsAddress: true,
      problem: "No browser was opened: there is no display to open a browser on.")
    #expect(
      text(lines(Self.login(.waiting(waiting)), columns: 40, rows: 15, glyphs: .ascii)) == """
          | Waiting for the browser  0 s
          No browser was opened: there is no
          display to open a browser on.
        \(Self.usualAddress)
          user      alice
          password  wonderland
          s sign in without a browser
          esc cancel  |  q quit
        """)
  }

  @Test func `beside a long address, only the header, the status and the key commands are shown`() {
    let address = Self.usualAddress + String(repeating: "x", count: 150)
    let waiting = Coordinator.Waiting(player: .browser, address: address, showsAddress: true)
    let page = Self.login(.waiting(waiting), at: Self.provider)
    #expect(
      text(lines(page, columns: 40, rows: 15, glyphs: .ascii)) == """
          SequencingOAuth demo      signing in
          | Waiting for the browser  0 s
        \(address)
          esc cancel  |  q quit
        """)
  }

  @Test func `a low login screen shows all that a sign-in needs`() {
    #expect(
      text(lines(Self.login(.login(notice: .cancelled)), columns: 40, rows: 15, glyphs: .ascii))
        == """
          SequencingOAuth demo   not signed in
          ------------------------------------
          Please sign in.
          server    http://127.0.0.1:8080
          user      alice
          password  wonderland
          You did not sign in.
          ------------------------------------
          enter sign in
          s sign in without a browser
          f read files  |  q quit
        """)
  }

  @Test func `the screens name a provider's account and offer no simulated user`() {
    let login = text(lines(Self.login(.login(notice: nil), at: Self.provider), columns: 80))
    #expect(login.contains("  server    Sequencing.com\n  account   work\n"))
    #expect(!login.contains("sandbox") && !login.contains("without a browser"))
    let main = text(lines(Self.main(Self.token, after: 0, at: Self.provider), columns: 80))
    #expect(main.contains("  server    Sequencing.com\n  account   work\n  scope     a b\n"))
    #expect(!main.contains("end the session at the server"))
    #expect(main.contains("o sign out"))
  }

  @Test(arguments: [(Line("ab"), "  ab\u{1B}[K"), (.blank, "\u{1B}[K")])
  func `a line clears the rest of its row`(line: Line, row: String) {
    #expect(line.row(.none, columns: 2) == row)
  }

  @Test(arguments: [(3, false), (4, true), (8, true), (9, false)])
  func `an address clears the rest of its last row, unless the row is full`(
    length: Int, isFull: Bool
  ) {
    let row = Line.address(String(repeating: "a", count: length)).row(.none, columns: 4)
    #expect(row.hasSuffix("\u{1B}[K") == !isFull)
  }

  @Test(arguments: [40, 80, 120])
  func `no screen shows a token`(columns: Int) {
    for page in Self.pages {
      #expect(!text(lines(page, columns: columns)).contains("secret-"))
    }
  }

  @Test(arguments: [Appearance.Colours.none, .basic, .palette])
  func `only colours that the terminal supports are used`(colours: Appearance.Colours) {
    let encoded = lines(Self.main(Self.token, after: 0), columns: 80)
      .map { $0.encoded(colours) }.joined()
    #expect(encoded.contains("\u{1B}[38;5;") == (colours == .palette))
    #expect(encoded.contains("\u{1B}[32m") == (colours == .basic))
    // Each colour that is switched on is switched off again.
    #expect(
      encoded.split(separator: "\u{1B}[0m", omittingEmptySubsequences: false).count - 1
        == encoded.split(separator: "\u{1B}[", omittingEmptySubsequences: false).count / 2)
  }

  @Test func `a server's text cannot control the terminal`() {
    let token = SQToken(accessToken: "x", tokenType: "B\u{1B}]0;x\u{7}", scope: "a\u{9B}2J\u{202E}")
    let page = Self.main(token, user: "\u{1B}[2Jeve\r\n", after: 0)
    for line in lines(page, columns: 80) {
      #expect(!line.text.unicodeScalars.contains { $0.properties.generalCategory == .control })
      #expect(!line.text.contains("\u{202E}"))
    }
  }

  @Test(arguments: [
    (0.0, "──────────"), (0.04, "╸─────────"), (0.5, "━━━━━─────"), (0.55, "━━━━━╸────"),
    (1.0, "━━━━━━━━━━"), (-3.0, "──────────"), (7.0, "━━━━━━━━━━"),
  ])
  func `the length of a bar's filled part shows the fraction`(fraction: Double, bar: String) {
    let canvas = Canvas(columns: 80, glyphs: .unicode)
    #expect(canvas.bar(fraction, width: 10, .good).map(\.text).joined() == bar)
  }
}

@Suite struct `Text` {
  @Test(arguments: [
    ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abcd", 1, "…"), ("abcd", 0, ""), ("", 0, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
  ])
  func `a text is cut to fit a width`(text: String, width: Int, cut: String) {
    #expect(TextLayout.fit(text, width: width) == cut)
  }

  @Test(arguments: [
    ("a bc def", 4, ["a bc", "def"]), ("abcdef gh", 3, ["abcdef", "gh"]), ("", 5, []),
    ("日本 語", 4, ["日本", "語"]),
  ])
  func `a text wraps between words`(text: String, width: Int, lines: [String]) {
    #expect(TextLayout.wrap(text, width: width) == lines)
  }
}

@Suite struct `The terminal` {
  @Test(arguments: [
    ("q", [Key.character("q")]), ("\r", [.enter]), ("\n", [.enter]), ("\u{1B}", [.escape]),
    ("\u{3}", [.interrupt]), ("\u{4}", [.interrupt]), ("\u{1A}", [.suspend]),
    ("\u{1B}[A", []), ("\u{1B}[1;5Cq", [.character("q")]), ("\u{1B}OPq", [.character("q")]),
    ("\u{1B}xq", [.character("q")]), ("\u{1B}[", []), ("é", []),
    ("ab", [.character("a"), .character("b")]),
  ])
  func `bytes from the terminal become keys`(bytes: String, keys: [Key]) {
    #expect(Key.decode(bytes.utf8) == keys)
  }

  @Test(arguments: [
    (["TERM": "xterm"], Appearance.Colours.basic), (["TERM": "xterm-256color"], .palette),
    (["TERM": "xterm", "COLORTERM": "truecolor"], .palette),
    (["TERM": "xterm-256color", "NO_COLOR": "1"], .none),
    (["TERM": "xterm-256color", "NO_COLOR": ""], .palette),
  ])
  func `the environment determines the colours`(
    environment: [String: String], colours: Appearance.Colours
  ) {
    #expect(Appearance(environment: environment).colours == colours)
  }

  @Test(arguments: [
    (["LANG": "de_DE.UTF-8"], Glyphs.unicode), (["LANG": "C.utf8"], .unicode), ([:], .ascii),
    (["LANG": "C"], .ascii), (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], .ascii),
    (["LANG": "C", "LC_ALL": "", "LC_CTYPE": "en_US.UTF-8"], .unicode),
  ])
  func `the environment determines the glyphs`(environment: [String: String], glyphs: Glyphs) {
    #expect(Appearance(environment: environment).glyphs == glyphs)
  }

  @Test(arguments: [([:], false), (["TERM": "dumb"], false), (["TERM": "linux"], true)])
  func `a terminal without a type, or with type dumb, cannot be drawn on`(
    environment: [String: String], can: Bool
  ) {
    #expect(Appearance.canDraw(environment: environment) == can)
  }
}

@Suite struct `A token` {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  @Test(arguments: [
    (1.0, "in 1 s"), (59.2, "in 1 min 0 s"), (0.0, "now"), (-5.0, "now"),
    (3599.0, "in 59 min 59 s"),
    (3600.0, "in 1 h 0 min"), (86_400.0, "in 1 day"), (172_800.0, "in 2 days"),
    (1e300, "in 11574074074 days"),
  ])
  func `the time until a token expires is shown in words`(seconds: Double, words: String) {
    let token = SQToken(accessToken: "x", expirationDate: now.addingTimeInterval(seconds))
    #expect(token.expiryInWords(at: now) == words)
  }

  @Test func `the JSON report of a token contains only the values that the token has`() throws {
    let token = SQToken(
      accessToken: "a/b", expirationDate: now.addingTimeInterval(60.9), scope: "x y",
      refreshToken: "r", issueDate: now)
    #expect(
      try TokenReport(token, at: now).json()
        == #"{"access_token":"a/b","expires_at":"2023-11-14T22:14:20Z","expires_in":60,"#
        + #""refresh_token":"r","scope":"x y","token_type":"Bearer"}"#)
    #expect(
      try TokenReport(SQToken(accessToken: "a"), at: now).json()
        == #"{"access_token":"a","token_type":"Bearer"}"#)
  }

  @Test func `the summary of a token contains no secret`() {
    let token = SQToken(
      accessToken: "secret-a", expirationDate: now.addingTimeInterval(60), scope: "x y",
      refreshToken: "secret-r")
    #expect(
      TokenSummary(token, of: nil, at: now, account: "me", keptIn: "the file /a/b").text == """
        Signed in.
          account  me
          scope    x y
          expires  in 1 min 0 s
          kept in  the file /a/b
        """)
  }
}
