import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

@Suite(.timeLimit(.minutes(1))) struct SystemBrowserTests {
  @Test func `the URL is the last word and no shell reads it`() async throws {
    let folder = try TemporaryFolder()
    let script = #"printf '%s\n' "$@" > "$0""#
    let browser = SystemBrowser(command: ["sh", "-c", script, folder.file("seen"), "--new window"])
    let url = try #require(URL(string: "https://id.example/a?b=$(id)&c=';&d=%22*"))
    try await browser.open(url)
    let seen = try String(contentsOfFile: folder.file("seen"), encoding: .utf8)
    #expect(seen == "--new window\n\(url.absoluteString)\n")
  }

  @Test(arguments: [
    ["/no/such/program"], ["no-such-program-anywhere"], ["false"], ["sh", "-c", "exit 3"],
    ["sh", "-c", "kill -9 $$"], ["/etc/passwd"], ["/"], [],
  ])
  func `a command that cannot be run or fails is browser_unavailable`(
    command: [String]
  ) async throws {
    let url = try #require(URL(string: "https://id.example/a?state=C4N4RY"))
    let error = await failure(.browserUnavailable) {
      try await SystemBrowser(command: command).open(url)
    }
    #expect(error.map { !everyText(of: $0).contains("C4N4RY") } == true)
  }

  /// libcurl has sockets that a child process would inherit.
  @Test func `a browser inherits no file and no socket`() async throws {
    let folder = try TemporaryFolder()
    var sockets: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
    defer { for socket in sockets { close(socket) } }
    let script = #"ls /proc/self/fd > "$0""#
    let browser = SystemBrowser(command: ["sh", "-c", script, folder.file("seen")])
    try await browser.open(try #require(URL(string: "https://id.example/a")))
    // The last one is the folder that the program lists.
    let seen = try String(contentsOfFile: folder.file("seen"), encoding: .utf8)
    #expect(seen == "0\n1\n2\n3\n")
  }

  @Test func `a browser lives on when nobody waits for it any more`() async throws {
    let folder = try TemporaryFolder()
    let script = #"touch "$0"; while [ ! -e "$0.go" ]; do sleep 0.05; done; touch "$0.end""#
    let browser = SystemBrowser(command: ["sh", "-c", script, folder.file("browser")])
    let url = try #require(URL(string: "https://id.example/a"))
    let opening = Task { try await browser.open(url) }
    try await eventually { FileManager.default.fileExists(atPath: folder.file("browser")) }
    opening.cancel()
    await #expect(throws: CancellationError.self) { try await opening.value }
    #expect(FileManager.default.createFile(atPath: folder.file("browser.go"), contents: nil))
    try await eventually { FileManager.default.fileExists(atPath: folder.file("browser.end")) }
  }

  @Test func `a sign-in without a browser ends with that error`() async throws {
    let fixture = try OAuthFixture().register(redirectURI: "http://127.0.0.1/cb")
    fixture.oauth.environment.userAgent = SystemBrowser(command: ["/no/such/program"])
    await failure(.browserUnavailable) { try await fixture.oauth.signIn() }
    #expect(await fixture.delegate.events(1) == [.failed(.browserUnavailable)])
    #expect(fixture.http.requests.isEmpty)
  }

  @Test(arguments: [
    (["BROWSER": "firefox"], ["firefox"]), (["BROWSER": "firefox --new"], ["firefox", "--new"]),
    (["BROWSER": "a:b", "DISPLAY": ":0"], ["a"]), (["DISPLAY": ":0"], ["xdg-open"]),
    (["WAYLAND_DISPLAY": "wayland-0"], ["xdg-open"]),
    (["BROWSER": "", "DISPLAY": ":0"], ["xdg-open"]),
  ])
  func `the default command follows the environment`(
    environment: [String: String], words: [String]
  ) throws {
    #expect(try SystemBrowser.defaultCommand(environment) == words)
  }

  @Test(arguments: [
    (["firefox"], ["firefox", "URL"]), (["firefox", "%s"], ["firefox", "URL"]),
    (["browser", "--url=%s", "--new"], ["browser", "--url=URL", "--new"]),
    (["browser", "%s", "%s"], ["browser", "URL", "URL"]),
  ])
  func `the address comes where the command wants it, or at the end`(
    words: [String], filled: [String]
  ) throws {
    let url = try #require(URL(string: "https://id.example/a?b=%73"))
    #expect(
      SystemBrowser.fill(words, with: url)
        == filled.map { $0.replacing("URL", with: url.absoluteString) })
  }

  @Test(arguments: [[:], ["BROWSER": ""], ["DISPLAY": ""], ["BROWSER": " "]])
  func `without a display there is no browser`(environment: [String: String]) {
    failure(.browserUnavailable) { try SystemBrowser.defaultCommand(environment) }
  }
}
