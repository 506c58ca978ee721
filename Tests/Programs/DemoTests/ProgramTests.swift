import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(5))) struct `The program` {
  private let folder: TemporaryFolder
  private let guest: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    guest = try TemporaryFolder()
  }

  @Test func `sq-demo shows the tour in plain lines if there is no keyboard`() async throws {
    let outcome = try await DemoProcess.run([], in: folder)
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    #expect(!outcome.output.contains("\u{1B}"))
    #expect(outcome.lines.first == "Please sign in.")
    #expect(outcome.lines.contains("Signed in as Alice Liddell."))
    #expect(outcome.lines.contains("  scope    openid profile demo files"))
    #expect(outcome.lines.contains("  Family history.md"))
    #expect(outcome.lines.contains("Waiting for RPC to complete..."))
    #expect(
      outcome.lines.contains(
        "Used scope: openid profile demo files on behalf of user alice"))
    #expect(outcome.lines.count { $0 == "The token is refreshed." } == 1)
    #expect(outcome.lines.suffix(2) == ["Signed out.", "Please sign in."])
    #expect(!folder.exists("state"))
  }

  /// Swift reads a program's arguments from /proc, so without /proc the program gets none.
  @Test(
    .requires("the right to mount a file system", SmallDisk.isAllowed),
    arguments: [["token"], [], ["help"]])
  func `sq-demo reports missing arguments if there is no /proc, instead of starting the tour`(
    arguments: [String]
  ) async throws {
    let outcome = try await DemoProcess.run(
      arguments, in: folder,
      starter: SmallDisk.unshare + ["sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"])
    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.firstError.hasPrefix("error: no_arguments: "))
    #expect(outcome.errors.contains("/proc"))
  }

  @Test func `sq-demo rejects an argument that is not UTF-8`() async throws {
    let outcome = try await DemoProcess.run(
      ["token", "--account"], in: folder,
      starter: ["bash", "-c", #"exec "$@" $'\xff'"#, "bash"])
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(outcome.firstError == "error: usage: argument 3 is not text in UTF-8")
  }

  private static let oddVariables = [
    ("unset XDG_STATE_HOME; export HOME=$'/tmp/\\xff'", "HOME", ["token"]),
    ("export XDG_STATE_HOME=$'/tmp/\\xff'", "XDG_STATE_HOME", ["accounts"]),
    ("unset XDG_STATE_HOME HOME; export STATE_DIRECTORY=$'/\\xff'", "STATE_DIRECTORY", ["token"]),
    ("export HOME=$'/\\xff'", "HOME", ["token", "--store", "file:~/tokens"]),
    ("export SQ_STORE_PASSPHRASE=$'\\xff'", "SQ_STORE_PASSPHRASE", ["token"]),
    ("export SQ_CLIENT_SECRET=$'\\xff'", "SQ_CLIENT_SECRET", ["token"]),
    ("export SQ_ACCESS_TOKEN=$'\\xff'", "SQ_ACCESS_TOKEN", ["token"]),
    ("export PGPASSWORD=$'\\xff'", "PGPASSWORD", ["token"]),
  ]

  @Test(arguments: oddVariables)
  func `sq-demo rejects a variable that is not UTF-8`(
    script: String, name: String, words: [String]
  ) async throws {
    let outcome = try await DemoProcess.run(
      words, in: folder, starter: ["bash", "-c", script + #"; exec "$@""#, "bash"])
    #expect(outcome.status != 0 && outcome.output.isEmpty)
    #expect(
      outcome.firstError.contains("the variable \(name) is not text in UTF-8"),
      "\(outcome.errors)")
  }

  @Test(arguments: ["unset HOME", "export HOME=", "export HOME=relative"])
  func `sq-demo expands a tilde only if HOME is an absolute path`(script: String) async throws {
    let outcome = try await DemoProcess.run(
      ["token", "--store", "file:~/tokens"], in: folder,
      starter: ["bash", "-c", script + #"; exec "$@""#, "bash"])
    #expect(outcome.status == 2)
    #expect(outcome.firstError.contains("HOME is not set to an absolute path"))
  }

  @Test func `sq-demo passes its variables to the browser byte for byte`() async throws {
    let sandbox = try await SandboxServer.start()
    let script = #"printenv ODD >"$1"; echo end >>"$1""#
    let demo = try DemoProcess(
      ["login", "--issuer", sandbox.issuer.absoluteString, "--client-id", "sandbox-app"],
      in: folder,
      starter: [
        "bash", "-c",
        #"export ODD=$'a\xffb' BROWSER="sh -c '$BROWSE' sh $HOME/seen"; exec "$@""#, "bash",
      ], environment: ["BROWSE": script])
    try await eventually("the browser has run") {
      let seen = try? Data(contentsOf: URL(filePath: folder.file("seen")))
      return seen == Data([0x61, 0xFF, 0x62] + Array("\nend\n".utf8))
    }
    demo.send(SIGTERM)
    #expect(await demo.outcome().status == 3)
    await sandbox.stop()
  }

  @Test(arguments: ["file", "encrypted", "sqlite", "encrypted-sqlite"])
  func `sq-demo reports an impossible store path instead of an empty store`(kind: String)
    async throws
  {
    try folder.write("x", to: "file")
    for command in [["token"], ["accounts"], ["logout"], ["whoami"]] {
      let outcome = try await DemoProcess.run(
        command + ["--store", "\(kind):" + folder.file("file/tokens")], in: folder)
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      #expect(outcome.firstError.hasPrefix("error: store_failed: "), "\(outcome.errors)")
      #expect(outcome.firstError.contains("Not a directory"), "\(outcome.errors)")
    }
  }

  /// Swift would change the folder's name, so the test also creates a folder with the changed name.
  @Test func `sq-demo writes nothing next to a current folder whose name is not UTF-8`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let start = #"mkdir -p "$HOME"/$'x\xff' "$HOME"/$'x\uFFFD'; cd "$HOME"/$'x\xff'; "#
    let login = [
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
      "sandbox-app", "--scope", "files", "--store",
    ]
    let run = { (words: [String]) in
      try await DemoProcess.run(
        words, in: folder, starter: ["bash", "-c", start + #"echo x >f; exec "$@""#, "bash"])
    }
    let sqlite = try await run(login + ["sqlite:tokens"])
    #expect(sqlite.status == 1 && sqlite.errors.contains("its folder is not text in UTF-8"))
    let file = try await run(login + ["file:tokens"])
    #expect(file.status == 0, "\(file.errors)")
    for words in [["put", "f"], ["get", "Family history.md", "--output", "copy"]] {
      let files = try await run(["files"] + words + ["--store", "file:tokens"])
      #expect(files.status == 1, "\(files.errors)")
      #expect(files.errors.contains("folder is not text in UTF-8"), "\(files.errors)")
    }
    let beside = folder.file("x\u{FFFD}")
    #expect(try FileManager.default.contentsOfDirectory(atPath: beside) == [])
    await sandbox.stop()
  }

  @Test func `sq-demo shortens a long argument in its messages`() async throws {
    let long = String(repeating: "a", count: 100_000)
    for words in [
      [long], ["token", "--" + long], ["token", "--store", long], ["token", long],
      ["token", "--account", long], ["token", "--store", "file:" + long],
    ] {
      let outcome = try await DemoProcess.run(words, in: folder)
      #expect(outcome.status != 0 && outcome.errors.contains("…"))
      #expect(outcome.errors.count < 2000, "\(outcome.errors.prefix(300))")
    }
  }

  @Test func `sq-demo leaves no files in the home folder if it stores nothing`() async throws {
    let commands: [(words: [String], status: Int32)] = [
      (["token"], 1), (["accounts"], 0), (["token", "--store", "keyring"], 1), (["logout"], 0),
    ]
    for (words, status) in commands {
      let outcome = try await DemoProcess.run(words, in: folder)
      #expect(outcome.status == status && !outcome.isKilled, "\(words): \(outcome.errors)")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(names) == ["output", "errors"])
  }

  @Test(arguments: [4, 5, 6, 8])
  func `sq-demo reports that the limit of open files is too low`(limit: Int) async throws {
    let outcome = try await DemoProcess.run(
      ["token", "--sandbox"], in: folder,
      starter: ["bash", "-c", #"ulimit -n \#(limit); exec "$@""#, "bash"])
    #expect(outcome.status == 1 && !outcome.isKilled)
    #expect(outcome.firstError.hasPrefix("error: no_room: "), "\(outcome.errors)")
    #expect(outcome.firstError.contains("Too many open files"))
    let help = try await DemoProcess.run(
      ["help"], in: folder, starter: ["bash", "-c", #"ulimit -n \#(limit); exec "$@""#, "bash"])
    #expect(help.status == 0)
  }

  @Test(.requires("root's right to be another user", geteuid() == 0), arguments: 1...5)
  func `sq-demo reports that the limit of threads is too low`(limit: Int) async throws {
    // Each limit has its own user, who has no other processes, so that the limit counts only this
    // program's threads.
    let user = 65_430 + limit
    let outcome = try await DemoProcess.run(
      ["token", "--store", "memory"], in: folder,
      // The user may not be allowed to enter the program's folder, so root starts the program.
      starter: [
        "bash", "-c",
        #"ulimit -u \#(limit); exec setpriv --reuid=\#(user) --clear-groups "$@""#, "bash",
      ])
    #expect(outcome.status == 1 && !outcome.isKilled)
    #expect(outcome.firstError.hasPrefix("error: no_room: "), "\(outcome.errors)")
    #expect(outcome.firstError.contains("Resource temporarily unavailable"))
  }

  @Test func `sq-demo prints its help and its version on standard output`() async throws {
    for (arguments, usage) in [
      (["help"], "sq-demo [COMMAND] [OPTIONS]"), (["login", "--help"], "sq-demo login [OPTIONS]"),
    ] {
      let outcome = try await DemoProcess.run(arguments, in: folder)
      #expect(outcome.status == 0)
      #expect(outcome.errors.isEmpty)
      #expect(outcome.output.contains("\n\nUsage: \(usage)\n\n"), "\(outcome.output)")
      #expect(outcome.output.hasSuffix("\n"))
    }
    let version = try await DemoProcess.run(["--version"], in: folder)
    #expect(version.status == 0)
    #expect(version.errors.isEmpty)
    #expect(version.output == "sq-demo \(Release.version)\n")
  }

  @Test func `sq-demo runs a sandbox for other programs until it is interrupted`() async throws {
    let demo = try DemoProcess(["sandbox", "--json", "--lifetime", "77"], in: folder)
    try await eventually("the sandbox listens") { demo.output.hasSuffix("\n") }
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(demo.output.utf8)) as? [String: Any])
    let issuer = try #require(json["issuer"] as? String)
    let client = try #require((json["clients"] as? [[String: String]])?.first?["client_id"])

    #expect(json["jwks_uri"] as? String == issuer + "/jwks")
    #expect(json["userinfo_endpoint"] as? String == issuer + "/userinfo")
    #expect(json["end_session_endpoint"] as? String == issuer + "/logout")

    let login = try await DemoProcess.run(
      ["login", "--json", "--browser", "sandbox", "--issuer", issuer, "--client-id", client],
      in: guest)
    #expect(login.status == 0, "\(login.errors)")
    let token = try JSONSerialization.jsonObject(with: Data(login.output.utf8)) as? [String: Any]
    #expect((60...77).contains(try #require(token?["expires_in"] as? Int)))

    let api = try #require(json["api"] as? [String: String])
    #expect(api["upload"] == issuer + "/upload/drive/v2" && api.count == 5)
    for address in [api["me"], api["list"], api["drive"].map({ $0 + "/about" })] {
      let call = try await DemoProcess.run(
        [
          "call", "GET", try #require(address), "--browser", "sandbox", "--issuer", issuer,
          "--client-id", client, "--store", "memory",
        ], in: guest)
      #expect(call.status == 0, "\(call.errors)")
    }
    let rpc = try await DemoProcess.run(
      [
        "rpc", try #require(api["grpc"]), "--browser", "sandbox", "--issuer", issuer,
        "--client-id", client, "--scope", "demo", "--store", "memory",
      ], in: guest)
    #expect(rpc.output == "Used scope: demo on behalf of user alice\n", "\(rpc.errors)")
    let scopes = (json["scopes"] as? [[String: String]])?.map { $0["scope"] }
    let openID = ["openid", "email", "phone", "address"]
    #expect(scopes == openID + ["profile", "demo", "files", "offline_access"])

    let port = try #require(issuer.split(separator: ":").last)
    let rpcPort = try #require(api["grpc"]?.split(separator: ":").last)
    for option in [["--port", String(port)], ["--rpc-port", String(rpcPort)]] {
      let second = try await DemoProcess.run(["sandbox"] + option, in: guest)
      #expect(second.status == 1)
      #expect(second.firstError == "error: port_in_use: another program uses port \(option[1])")
    }

    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && !outcome.isKilled)
    #expect(outcome.errors.isEmpty)
  }

  @Test func `sq-demo sandbox prints its addresses, and commands that work as printed`()
    async throws
  {
    let demo = try DemoProcess(["sandbox"], in: folder)
    try await eventually("the sandbox prints its commands") {
      demo.output.contains(#/\n  sq-demo call http.+\n/#)
    }
    let issuer = try #require(demo.output.firstMatch(of: #/issuer +(http://127.0.0.1:[0-9]+)/#)?.1)
    #expect(demo.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(demo.output)")
    for path in ["keys     ", "userinfo ", "logout   ", "me       ", "upload   "] {
      #expect(demo.output.contains("\n  \(path)  \(issuer)/"), "\(demo.output)")
    }
    #expect(demo.output.contains(#/\n  grpc       http:\/\/127.0.0.1:[0-9]+ \(grpc\.testing/#))
    for scope in ["profile: See", "demo: List", "files: List", "offline_access: Keep"] {
      #expect(demo.output.contains("\n  scope      \(scope)"), "\(demo.output)")
    }
    // The printed commands work one after another.
    let lines = demo.output.replacing("\\\n", with: "").matches(of: #/\n  sq-demo (.+)/#)
    #expect(lines.count == 7)
    for line in lines {
      var words = try #require(ShellWords.split(String(line.1)))
      if words.first != "discover" { words += ["--browser", "sandbox"] }
      let outcome = try await DemoProcess.run(
        words + ["--store", "file:" + guest.file("tokens")], in: guest)
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    demo.send(SIGTERM)
    #expect(await demo.outcome().status == 0)
  }

  @Test func `sq-demo is ended by SIGPIPE when its output has no reader`() async throws {
    let demo = try DemoProcess(
      ["help"], in: folder, output: DemoProcess.closedPipe(), errors: folder.handle("errors"))
    let outcome = await demo.outcome()
    #expect(outcome.isKilled && outcome.status == SIGPIPE)
    #expect(outcome.errors.isEmpty)
  }

  @Test func `sq-demo ends with status 1 if its output cannot be written`() async throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let demo = try DemoProcess(["help"], in: folder, output: full, errors: folder.handle("errors"))
    let outcome = await demo.outcome()
    #expect(outcome.status == 1 && !outcome.isKilled)
    #expect(
      outcome.firstError.hasPrefix("error: output_failed: standard output: "), "\(outcome.errors)")
    #expect(outcome.firstError.contains("No space left on device"), "\(outcome.errors)")
  }
}
