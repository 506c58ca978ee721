import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import sq_demo

@Suite struct `Screens of low terminals` {
  private static let server = TourServer(
    name: "http://127.0.0.1:8080",
    user: TourServer.User(name: "alice", password: "wonderland"))
  private static let start = Date(timeIntervalSince1970: 1_000_000)
  private static let token = SQToken(
    accessToken: "a", expirationDate: start + 3600, scope: "profile demo files",
    refreshToken: "r", issueDate: start)
  private static let files = ["One.txt", "Two.txt", "Three.txt", "Four.txt", "Five.txt"].map {
    DriveFile(id: $0, title: $0, size: 10, modified: nil, type: nil)
  }
  private static let refreshed = [10.0, 20, 30].map {
    Coordinator.News(kind: .refreshed, date: start + 60 - $0)
  }
  private static let failed = Coordinator.News(
    kind: .failed(
      code: "connection_failed",
      message: "the server at http://127.0.0.1:8080 refused the connection, as it has ended"),
    date: start)

  private static func main(_ change: (inout Coordinator.Main) -> Void) -> MainView {
    var main = Coordinator.Main(token, user: "alice", files: .read(files, isAll: true))
    change(&main)
    return MainView(main: main, date: start + 60, server: server)
  }

  private static func waiting(_ address: String) -> LoginView {
    let waiting = Coordinator.Waiting(
      player: .browser, address: address, showsAddress: true,
      problem: "No browser was opened: there is no display to open a browser on.")
    return LoginView(server: server, screen: .waiting(waiting), seconds: 0)
  }

  private func text(
    _ columns: Int, _ rows: Int, _ page: (Canvas) -> Page
  ) -> String {
    let canvas = Canvas(columns: columns, glyphs: .ascii)
    return page(canvas).lines(canvas, columns: columns, rows: rows).map(\.text)
      .joined(separator: "\n")
  }

  @Test func `a shortened reason of a failed refresh ends in an ellipsis`() {
    let view = Self.main { $0.news = [Self.failed] }
    let canvas = Canvas(columns: 24, glyphs: .ascii)
    let lines = view.page(canvas).lines(canvas, columns: 24, rows: 8).map(\.text)
    #expect(lines.contains { $0.contains("Refresh failed") }, "\(lines)")
    #expect(!lines.contains { $0.contains("has ended") }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix(canvas.glyphs.ellipsis) }, "\(lines)")
  }

  private static let sizes = [(120, 40), (80, 24), (80, 10), (60, 12), (40, 15), (40, 10), (40, 8)]

  @Test(arguments: sizes, [0, 1, 3])
  func `the latest refresh and the session's end are visible down to 40 columns and 8 rows`(
    size: (Int, Int), refreshes: Int
  ) {
    let view = Self.main {
      $0.isOverAtServer = true
      $0.news = Array(Self.refreshed.prefix(refreshes))
    }
    let shown = text(size.0, size.1, view.page)
    #expect(shown.contains("The server has ended the session."), "\(shown)")
    #expect(shown.contains("Token refreshed  10 s ago") == (refreshes > 0), "\(shown)")
    #expect(shown.contains("q quit"))
  }

  @Test(arguments: sizes)
  func `a failed refresh and the start of its reason are visible down to 40 columns and 8 rows`(
    columns: Int, rows: Int
  ) {
    let shown = text(columns, rows, Self.main { $0.news = [Self.failed] + Self.refreshed }.page)
    #expect(shown.contains("! Refresh failed  1 min 0 s ago\n  the server at"))
    // A cut text ends in an ellipsis.
    #expect(shown.contains("(connection_failed)") != shown.contains("..."), "\(shown)")
  }

  @Test(arguments: sizes)
  func `the number of files that do not fit is shown if a terminal has at least 10 rows`(
    columns: Int, rows: Int
  ) throws {
    let shown = text(columns, rows, Self.main { $0.news = Self.refreshed }.page)
    let count = Self.files.count { shown.contains($0.title) }
    guard shown.contains("\nfiles ") else { return #expect(count == 0 && rows < 10) }
    switch count {
    case 5: #expect(!shown.contains(" more"))
    case 0: #expect(shown.contains("files     5, no room to list them"))
    default: #expect(shown.contains("          and \(5 - count) more\n"), "\(shown)")
    }
  }

  @Test func `a main screen of 40 columns and 15 rows shows both notifications and files`() {
    let view = Self.main {
      $0.isOverAtServer = true
      $0.news = Self.refreshed
    }
    #expect(
      text(40, 15, view.page) == """
        SequencingOAuth demo       signed in
        ------------------------------------
        * Signed in as alice
        expires   in 59 min 0 s
        files     One.txt           10 bytes
                  Two.txt           10 bytes
                  Three.txt         10 bytes
                  and 2 more
        The server has ended the session.
        * Token refreshed  10 s ago
        ------------------------------------
        r refresh  |  f read files
        v revoke
        e end the session at the server
        o sign out  |  q quit
        """)
  }

  @Test func `a long answer of a call leaves room for the reason of a failed refresh`() {
    let view = Self.main {
      $0.call = .failed(message: "Invalid credentials.\n" + String(repeating: "Much. ", count: 60))
      $0.news = [Self.failed]
    }
    let shown = text(40, 15, view.page)
    #expect(shown.contains("rpc       Invalid credentials. "), "\(shown)")
    #expect(shown.contains("! Refresh failed  1 min 0 s ago\n  the server at"))
  }

  @Test
  func `the screen of a session without a refresh token also says that the session has ended`() {
    let view = Self.main {
      $0.token = SQToken(accessToken: "a")
      $0.isOverAtServer = true
    }
    #expect(
      text(80, 24, view.page).contains(
        "The server has ended the session. The app learns of it at the next request."))
  }

  /// An address that takes eight rows of 40 columns.
  private static let address = "http://127.0.0.1/?" + String(repeating: "x", count: 280)

  @Test(arguments: [(40, 15), (40, 16), (40, 19), (60, 13), (80, 12), (80, 24)])
  func `the address, the login and the reason why no browser opened are visible together`(
    columns: Int, rows: Int
  ) {
    let shown = text(columns, rows, Self.waiting(Self.address).page)
    #expect(shown.contains("\nuser      alice\npassword  wonderland\n"), "\(shown)")
    #expect(shown.contains("No browser was opened: there is no"))
    #expect(shown.contains(Self.address))
    #expect(shown.contains("q quit"))
  }

  @Test
  func `a small screen omits the reason and the progress rather than the address and the login`() {
    let shown = text(40, 12, Self.waiting(Self.address).page)
    #expect(shown.hasPrefix(Self.address + "\nuser      alice\npassword  wonderland\n"))
    #expect(text(40, 11, Self.waiting(Self.address).page).contains(Self.address))
  }

  @Test func `the reason of a failed sign-in is visible on a login screen of few rows`() {
    let failure = Coordinator.Notice.failed(code: "server_error", message: "it does not work today")
    let view = LoginView(server: Self.server, screen: .login(notice: failure), seconds: 0)
    for rows in [15, 10, 8] {
      let shown = text(40, rows, view.page)
      #expect(shown.contains("! it does not work"), "\(shown)")
      #expect(shown.contains("password  wonderland"))
    }
  }
}
