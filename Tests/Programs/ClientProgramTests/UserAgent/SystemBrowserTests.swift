import Foundation
import ProgramSupport
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

@Suite(.timeLimit(.minutes(1))) struct SystemBrowserTests {
  @Test func `the URL is the last argument of the browser command and is not read by a shell`()
    async throws
  {
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
  func `a browser command that fails or cannot be run causes browser_unavailable`(
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
    // Descriptor 3 is the folder that `ls` reads.
    let seen = try String(contentsOfFile: folder.file("seen"), encoding: .utf8)
    #expect(seen == "0\n1\n2\n3\n")
  }

  @Test func `a non-text browser keeps running after its waiting task is cancelled`() async throws {
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

  @Test func `a sign-in without a browser fails with browser_unavailable`() async throws {
    let fixture = try OAuthFixture().register(redirectURI: "http://127.0.0.1/cb")
    fixture.oauth.environment.userAgent = SystemBrowser(command: ["/no/such/program"])
    await failure(.browserUnavailable) { try await fixture.oauth.signIn() }
    #expect(await fixture.delegate.events(1) == [.failed(.browserUnavailable)])
    #expect(fixture.http.requests.isEmpty)
  }

  // MARK: $BROWSER

  private static let lists: [(text: String, commands: [[String]])] = [
    ("firefox", [["firefox", "URL"]]), ("firefox --new", [["firefox", "--new", "URL"]]),
    ("a:b", [["a", "URL"], ["b", "URL"]]), (":a::b:", [["a", "URL"], ["b", "URL"]]),
    ("firefox %s", [["firefox", "URL"]]),
    ("browser --url=%s --new", [["browser", "--url=URL", "--new"]]),
    ("browser %s %s", [["browser", "URL", "URL"]]),
    ("firefox &", [["firefox", "URL"]]),
    ("firefox %s &:w3m", [["firefox", "URL"], ["w3m", "URL"]]),
    ("firefox&", [["firefox", "URL"]]), (#"a \&"#, [["a", "&", "URL"]]),
    ("'/opt/my browser/run'", [["/opt/my browser/run", "URL"]]),
    (#""/opt/a:b/run" -x:c"#, [["/opt/a:b/run", "-x", "URL"], ["c", "URL"]]),
    (#"/opt/my\ browser/run -P 'a b'"#, [["/opt/my browser/run", "-P", "a b", "URL"]]),
    ("/home/o'neil/run -x", [["/home/o'neil/run", "-x", "URL"]]),
    ("", []), (" ", []), (" : & : ", []), ("''", []),
  ]

  @Test
  func `the BROWSER variable may contain several commands, quotes and placeholders for the URL`()
    throws
  {
    let url = try #require(URL(string: "https://id.example/a?b=%73"))
    for (text, commands) in Self.lists {
      let named = BrowserCommand.named(["BROWSER": text])
      let filled = commands.map { $0.map { $0.replacing("URL", with: url.absoluteString) } }
      #expect(named.map { $0.words(for: url) } == filled, "\(text)")
    }
  }

  @Test(arguments: [
    "no-such-browser:BROWSER", "false:BROWSER", "sh -c 'exit 3':/etc/passwd:BROWSER:false",
  ])
  func `the commands in the BROWSER variable are tried until one succeeds`(list: String)
    async throws
  {
    let folder = try await Self.folder(with: ["browser"], script: #"echo "$@" >>"$0.seen""#)
    var browser = SystemBrowser()
    let environment = ["BROWSER": list.replacing("BROWSER", with: folder.file("browser"))]
    browser.environment = { environment }
    try await browser.open(try #require(URL(string: "https://id.example/a")))
    #expect(folder.read("browser.seen") == "https://id.example/a\n")
  }

  @Test func `if all browser commands fail, the error names each of them`() async throws {
    let url = try #require(URL(string: "https://id.example/a"))
    let error = await failure(.browserUnavailable) {
      try await Self.browser(["BROWSER": "no-such-browser:false"]).open(url)
    }
    #expect(
      error?.message == #"the browser command "no-such-browser" cannot be run: No such file or "#
        + #"directory, and the browser command "false" ended with status 1"#)
  }

  @Test func `a browser that cannot be run is detected before it is tried`() async throws {
    let folder = try await Self.folder(with: ["browser"], script: "exit 0")
    try folder.write("text", to: "text")
    let path = ["PATH": "/no/such:\(folder.path)"]
    for (text, reason) in [
      ("no-such-browser", "there is no such program"), ("/no/such", "there is no such program"),
      (folder.path, "\(folder.path) is a folder"), ("text", "\(folder.file("text")) is not exec"),
      ("/etc/passwd/x", "there is no such program"),
    ] {
      let environment = path.merging(["BROWSER": text]) { $1 }
      let error = Self.browser(environment).unavailability(environment)
      #expect(error?.code == .browserUnavailable)
      let start = "the browser command \"\(text)\" cannot be run: \(reason)"
      #expect(error?.message.hasPrefix(start) == true, "\(String(describing: error))")
    }
    for text in ["browser", "no-such-browser:browser"] {
      let environment = path.merging(["BROWSER": text]) { $1 }
      #expect(Self.browser(environment).unavailability(environment) == nil)
    }
  }

  // MARK: The system's browsers

  private static let displays: [(environment: [String: String], programs: [String])] = [
    (["DISPLAY": ":0"], ["xdg-open", "x-www-browser", "sensible-browser"]),
    (["WAYLAND_DISPLAY": "wayland-0"], ["xdg-open", "x-www-browser", "sensible-browser"]),
    (["WSL_DISTRO_NAME": "Debian"], ["wslview"]),
    (
      ["WSL_INTEROP": "/run/WSL/8_interop", "DISPLAY": ":0"],
      ["xdg-open", "x-www-browser", "sensible-browser", "wslview"]
    ),
    ([:], []), (["DISPLAY": ""], []),
  ]

  @Test func `the system's browser commands depend on the display variables`() async throws {
    let folder = try await Self.folder(
      with: ["xdg-open", "x-www-browser", "sensible-browser", "wslview", "w3m"])
    // A text browser under another name gets no terminal unless the user has named it.
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("www-browser"), withDestinationPath: "w3m")
    for (environment, programs) in Self.displays {
      let all = environment.merging(["PATH": folder.path]) { $1 }
      #expect(BrowserCommand.system(all).map(\.program) == programs)
      #expect(BrowserCommand.system(environment).isEmpty, "none is installed")
    }
    let path = ["PATH": folder.path]
    #expect(BrowserCommand(words: ["www-browser"]).isTextBrowser(path))
    #expect(BrowserCommand(words: [folder.file("w3m"), "-x"]).isTextBrowser([:]))
    #expect(!BrowserCommand(words: ["w3m"], isInBackground: true).isTextBrowser(path))
    #expect(!BrowserCommand(words: ["links2", "-g"]).isTextBrowser(path))
    #expect(!BrowserCommand(words: ["xdg-open"]).isTextBrowser(path))
  }

  @Test(arguments: [
    ([:], "there is no display to open a browser on"),
    (["BROWSER": "", "DISPLAY": ""], "there is no display to open a browser on"),
    (["BROWSER": " "], "there is no display to open a browser on"),
    (["DISPLAY": ":0"], "no browser is installed"),
  ])
  func `without a browser the error says what is missing`(
    environment: [String: String], reason: String
  ) async throws {
    let url = try #require(URL(string: "https://id.example/a"))
    let error = await failure(.browserUnavailable) {
      try await Self.browser(environment).open(url)
    }
    #expect(error?.message.prefix { $0 != ";" } == reason[...])
  }

  @Test(arguments: [
    (3, "no browser is installed"), (4, #"the browser failed: "xdg-open" ended with status 4"#),
  ])
  func `the error message depends on the exit status of xdg-open`(status: Int, reason: String)
    async throws
  {
    let folder = try await Self.folder(
      with: ["xdg-open"], script: #"echo "$BROWSER" >"$0.browsers"; exit \#(status)"#)
    let url = try #require(URL(string: "https://id.example/a"))
    let error = await failure(.browserUnavailable) {
      try await Self.browser(["PATH": folder.path, "DISPLAY": ":0"]).open(url)
    }
    #expect(error?.message == reason)
    // With its own list of browsers, xdg-open would start a text browser in this program's
    // terminal.
    let browsers = folder.read("xdg-open.browsers").split(separator: ":")
    #expect(browsers.contains("firefox") && !browsers.contains("w3m"))
  }

  /// The thread that starts the browser blocks the signals, but the browser must not block them.
  ///
  /// In its own session, the browser has no terminal.
  @Test func `a graphical browser has its own session and blocks no signals`() async throws {
    let folder = try await Self.folder(
      with: ["xdg-open"],
      script: #"""
        grep SigBlk /proc/self/status >"$0.signals"
        [ "$(cut -d' ' -f6 /proc/$$/stat)" = $$ ] && echo own >"$0.session"
        """#)
    try await Self.browser(["PATH": folder.path, "DISPLAY": ":0"]).open(
      try #require(URL(string: "https://id.example/a")))
    #expect(folder.read("xdg-open.signals").hasSuffix("\t0000000000000000\n"))
    #expect(folder.read("xdg-open.session") == "own\n")
  }

  /// Ctrl-C ends the programs of this program's group, and a closed terminal does so too.
  @Test(.ownThreads)
  func `a browser from the BROWSER variable has its own process group and does not ignore SIGPIPE`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_IGN)
      let folder = try await Self.folder(
        with: ["firefox"],
        script: #"""
          grep SigIgn /proc/self/status >"$0.signals"
          [ "$(cut -d' ' -f5 /proc/$$/stat)" = $$ ] && echo own >"$0.group"
          """#)
      try await Self.browser(["BROWSER": folder.path + "/firefox", "DISPLAY": ":0"]).open(
        try #require(URL(string: "https://id.example/a")))
      try #require(folder.read("firefox.group") == "own\n")
      let signals = folder.read("firefox.signals").dropFirst("SigIgn:\t".count).dropLast()
      try #require(try #require(UInt64(signals, radix: 16)) & 1 << (SIGPIPE - 1) == 0)
    }
  }

  // MARK: Text browsers

  @Test func `a text browser gets the terminal, and the app is notified before and after`()
    async throws
  {
    let folder = try await Self.folder(
      with: ["w3m"],
      script: #"test -t 0 && test -t 1 && echo ready; read line; echo "$line $1" >"$0.seen""#)
    let terminal = try PseudoTerminal()
    let told = Told()
    let browser = Self.browser(folder, terminal, told)
    let opening = Task { try await browser.open(try #require(URL(string: "https://id.example/a"))) }
    try await eventually("the browser has the terminal") { terminal.everything.contains("ready") }
    #expect(told.words == ["will"])
    try terminal.press("typed\n")
    try await opening.value
    #expect(folder.read("w3m.seen") == "typed https://id.example/a\n")
    #expect(told.words == ["will", "did"])
  }

  @Test(arguments: [true, false])
  func `cancelling ends a text browser and restores the terminal`(
    obeys: Bool
  ) async throws {
    let folder = try await Self.folder(
      with: ["w3m"],
      script: (obeys ? "" : "trap '' TERM\n")
        + #"stty raw -echo; echo $$ >"$0.process"; echo ready; while :; do sleep 0.1; done"#)
    let terminal = try PseudoTerminal()
    let before = terminal.modes
    let told = Told()
    let browser = Self.browser(folder, terminal, told)
    let opening = Task { try await browser.open(try #require(URL(string: "https://id.example/a"))) }
    try await eventually("the browser has the terminal") { terminal.everything.contains("ready") }
    #expect(terminal.modes != before)
    opening.cancel()
    await #expect(throws: CancellationError.self) { try await opening.value }
    #expect(terminal.modes == before && told.words == ["will", "did"])
    let process = folder.read("w3m.process").trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(kill(try #require(pid_t(process)), 0) == -1)
    try await eventually("the screen is left") { terminal.everything.contains("\u{1B}[?1049l") }
  }

  @Test func `without a terminal a text browser is not started`() async throws {
    let folder = try await Self.folder(with: ["w3m"], script: #"touch "$0.started""#)
    var browser = SystemBrowser(command: [folder.file("w3m")])
    browser.terminal = { nil }
    let url = try #require(URL(string: "https://id.example/a"))
    let error = await failure(.browserUnavailable) { [browser] in try await browser.open(url) }
    #expect(error?.message.hasSuffix("needs a terminal") == true)
    #expect(!folder.exists("w3m.started") && !browser.takesTerminal)
  }

  /// When the user leaves the text browser.
  enum Leaving: CaseIterable { case afterAnswer, withoutAnswer, never }

  /// The program must not use the terminal while its user reads the last page there.
  @Test(arguments: Leaving.allCases)
  func `a sign-in ends after its text browser has ended, and the time limit ends the browser`(
    leaving: Leaving
  ) async throws {
    let folder = try await Self.folder(
      with: ["w3m"],
      script: #"echo "$1" >"$0.url"; echo ready; read line; echo "$line" >"$0.line""#)
    let terminal = try PseudoTerminal()
    let told = Told()
    let browser = Self.browser(folder, terminal, told)
    // No other server gets the port after the sign-in has closed it.
    let reservation = try BoundSocket()
    let fixture = try OAuthFixture()
      .register(redirectURI: "http://127.0.0.1:\(reservation.port)/cb")
    fixture.oauth.environment.userAgent = CustomUserAgent { try await browser.open($0) }
    fixture.oauth.authorizeUser()
    try await eventually("the browser has the terminal") { terminal.everything.contains("ready") }
    let address = folder.read("w3m.url").trimmingCharacters(in: .whitespacesAndNewlines)
    let page = try AuthorizationURL(try #require(URL(string: address)))
    switch leaving {
    case .afterAnswer:
      let answer = try await CurlTransport.shared.send(
        WebRequest(url: try page.redirect("code=abc")))
      #expect(answer.status == 200 && fixture.http.requests.count == 1)
      // Once the port is closed, the program waits only for the end of the browser.
      let port = UInt16(try #require(try page.redirect("").port))
      try await eventually("the port is closed") { !RawClient.isOpen(port: port) }
      #expect(fixture.delegate.events.isEmpty && told.words == ["will"])
      try terminal.press("leave\n")
      #expect(await fixture.delegate.events(1) == [.authorized("T")])
    case .withoutAnswer:
      try terminal.press("leave\n")
      #expect(await fixture.delegate.events(1) == [.cancelled])
    case .never:
      await fixture.clock.hasSleeper()
      fixture.clock.advance(by: 300)
      #expect(await fixture.delegate.events(1) == [.cancelled])
      #expect(!folder.exists("w3m.line"), "the browser was not killed")
    }
    #expect(told.words == ["will", "did"])
    withExtendedLifetime(reservation) {}
  }

  /// No redirect comes, and the user reads the provider's page in the terminal.
  @Test func `a logout without a redirect ends after its text browser has ended`() async throws {
    let folder = try await Self.folder(
      with: ["w3m"], script: #"echo ready; read line; echo "$line" >"$0.line""#)
    let terminal = try PseudoTerminal()
    let told = Told()
    let browser = Self.browser(folder, terminal, told)
    let fixture = try OAuthFixture()
      .register(
        provider: .endpoints(
          authorization: "https://id.example/authorize", token: "https://id.example/token",
          endSession: "https://id.example/logout"))
    fixture.oauth.environment.userAgent = CustomUserAgent { try await browser.open($0) }
    let logout = Task { try await fixture.oauth.endSession() }
    try await eventually("the browser has the terminal") { terminal.everything.contains("ready") }
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 5)
    try terminal.press("leave\n")
    try await logout.value
    #expect(folder.read("w3m.line") == "leave\n" && told.words == ["will", "did"])
  }

  /// The app needs longer to make the terminal ready than other browsers need to open.
  @Test(arguments: [true, false])
  func `a logout without a redirect waits for a text browser that starts late or cannot start`(
    isThere: Bool
  ) async throws {
    let folder = try await Self.folder(
      with: isThere ? ["w3m"] : [], script: #"echo ready; read line; echo "$line" >"$0.line""#)
    let (terminal, told, gate) = (try PseudoTerminal(), Told(), Gate(isOpen: false))
    var browser = Self.browser(folder, terminal, told)
    browser.willUseTerminal = {
      told.add("will")
      await gate.pass()
    }
    let fixture = try OAuthFixture()
      .register(
        provider: .endpoints(
          authorization: "https://id.example/authorize", token: "https://id.example/token",
          endSession: "https://id.example/logout"))
    fixture.oauth.environment.userAgent = CustomUserAgent { [browser] in
      try await browser.open($0)
    }
    let logout = Task { try await fixture.oauth.endSession() }
    try await gate.isHolding()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 5)
    await fixture.clock.hasSleeper()
    gate.open()
    if isThere {
      try await eventually("the browser has the terminal") { terminal.everything.contains("ready") }
      try terminal.press("leave\n")
      try await logout.value
      #expect(folder.read("w3m.line") == "leave\n")
    } else {
      await failure(.browserUnavailable) { try await logout.value }
    }
    #expect(told.words == ["will", "did"])
  }

  @Test func `a sign-in ends although the app's closure before a text browser does not return`()
    async throws
  {
    let folder = try await Self.folder(with: ["w3m"], script: #"touch "$0.started""#)
    let (terminal, told, gate) = (try PseudoTerminal(), Told(), Gate(isOpen: false))
    var browser = Self.browser(folder, terminal, told)
    browser.willUseTerminal = {
      told.add("will")
      await gate.pass()
    }
    let fixture = try OAuthFixture().register()
    fixture.oauth.environment.userAgent = CustomUserAgent { [browser] in
      try await browser.open($0)
    }
    fixture.oauth.authorizeUser()
    try await gate.isHolding()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 300)
    #expect(await fixture.delegate.events(1) == [.cancelled])
    gate.open()
    try await eventually("the app may use the terminal") { told.words == ["will", "did"] }
    #expect(!folder.exists("w3m.started"))
  }

  /// A record of the calls of `willUseTerminal` ("will") and `didUseTerminal` ("did"), in order.
  private final class Told: Sendable {
    private let heard = Locked<[String]>([])

    var words: [String] { heard.withLock { $0 } }

    func add(_ word: String) {
      heard.withLock { $0.append(word) }
    }
  }

  private static func browser(_ environment: [String: String]) -> SystemBrowser {
    var browser = SystemBrowser()
    browser.environment = { environment }
    return browser
  }

  private static func browser(
    _ folder: TemporaryFolder, _ terminal: PseudoTerminal, _ told: Told
  ) -> SystemBrowser {
    var browser = SystemBrowser(command: [folder.file("w3m")])
    let file = terminal.handle.fileDescriptor
    browser.terminal = { ProgramTerminal(input: file, output: file) }
    browser.willUseTerminal = { told.add("will") }
    browser.didUseTerminal = { told.add("did") }
    return browser
  }

  /// Creates a folder with an executable script for each name in `programs`.
  ///
  /// Another process writes the scripts: a file cannot be run while it is open for writing, in this
  /// process or in a child that this process is just starting.
  private static func folder(
    with programs: [String], script: String = "exit 0"
  ) async throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for program in programs {
      let result = try await ProgramSupport.ChildProcess.run(
        ["sh", "-c", #"cat >"$0" && chmod 755 "$0""#, folder.file(program)],
        input: .text("#!/bin/sh\nPATH=/usr/bin:/bin\n\(script)\n"))
      try #require(result.status == 0)
    }
    return folder
  }
}
