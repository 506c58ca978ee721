import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `The passphrase of a store` {
  private let folder: TemporaryFolder
  private let terminal: PseudoTerminal
  private var path: String { folder.file("tokens") }

  init() throws {
    folder = try TemporaryFolder()
    terminal = try PseudoTerminal()
  }

  /// Starts the program with its input and output at the terminal.
  private func start(_ arguments: [String]) throws -> DemoProcess {
    try DemoProcess(
      arguments + ["--store", "encrypted:" + path], in: folder, input: terminal.handle,
      output: terminal.handle)
  }

  private func login(_ sandbox: SandboxServer) -> [String] {
    [
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
      "sandbox-app",
    ]
  }

  /// Answers a prompt after it has appeared `count` times.
  private func answer(
    _ question: String, _ text: String, count: Int = 1
  ) async throws {
    try await eventually("the terminal asks: \(question)") {
      terminal.everything.components(separatedBy: question).count > count
    }
    #expect(terminal.modes[2] & UInt32(ECHO) == 0)
    try terminal.press(text + "\n")
  }

  /// Waits for a text on the terminal, because the program's output may arrive there after the
  /// program's end.
  private func shows(_ text: String) async throws {
    try await eventually("the terminal shows: \(text)") { terminal.everything.contains(text) }
  }

  private func store(_ passphrase: String) -> EncryptedFileTokenStore {
    EncryptedFileTokenStore(path: path, key: .passphrase(passphrase))
  }

  @Test func `a store's passphrase is asked for twice for a new store, and once later`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let modes = terminal.modes
    let login = try start(login(sandbox))
    try await answer("Passphrase: ", "open sesame")
    try await answer("Once more: ", "open barley")
    try await answer("Passphrase: ", "open sesame", count: 2)
    try await answer("Once more: ", "open sesame", count: 2)
    #expect(await login.outcome().status == 0, "\(terminal.everything)")
    try await shows("The two passphrases differ.")
    #expect(try await store("open sesame").list() == ["default"])
    #expect(!folder.exists("tokens.key"))

    let token = try start(["token"])
    try await answer("Passphrase of \(path): ", "")
    try await answer("Passphrase of \(path): ", "open sesame", count: 2)
    #expect(await token.outcome().status == 0)
    let accessToken = try #require(
      try await store("open sesame").load("default")?.token.accessToken)
    try await shows("\r\n\(accessToken)\r\n")
    #expect(!terminal.everything.contains("sesame"))
    #expect(terminal.modes == modes)
    await sandbox.stop()
  }

  @Test func `a store's passphrase can be empty, and then the key is in a file next to the store`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let login = try start(login(sandbox))
    try await answer("Passphrase: ", "")
    #expect(await login.outcome().status == 0, "\(terminal.everything)")
    let mode = try FileManager.default.attributesOfItem(atPath: path + ".key")
    #expect(mode[.posixPermissions] as? Int == 0o600)
    // If the key file exists, there is no prompt.
    #expect(await (try start(["token"])).outcome().status == 0)
    await sandbox.stop()
  }

  /// A first sign-in registers the program before it saves an account.
  @Test func `a passphrase is not new if a sign-in has ended after the program's registration`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let issuer = ["--issuer", sandbox.issuer.absoluteString]
    let ended = try start(["login", "--browser", "print"] + issuer)
    try await answer("Passphrase: ", "open sesame")
    try await answer("Once more: ", "open sesame")
    try await shows("Waiting for you")
    ended.send(SIGINT)
    #expect(await ended.outcome().status == 3, "\(terminal.everything)")
    #expect(folder.exists("tokens.registrations") && !folder.exists("tokens"))

    let wrong = try start(["login", "--browser", "sandbox", "--client-id", "sandbox-app"] + issuer)
    try await answer("Passphrase of \(path): ", "open barley")
    #expect(await wrong.outcome().status == 1)
    try await shows("error: wrong_passphrase: ")
    #expect(!folder.exists("tokens"))

    let login = try start(["login", "--browser", "sandbox"] + issuer)
    try await answer("Passphrase of \(path): ", "open sesame", count: 2)
    #expect(await login.outcome().status == 0, "\(terminal.everything)")
    #expect(try await store("open sesame").list() == ["default"])
    #expect(sandbox.requests(to: .registration).count { $0.method == "POST" } == 1)
    await sandbox.stop()
  }

  @Test func `a wrong passphrase for a store is rejected`() async throws {
    let sandbox = try await SandboxServer.start()
    try await store("open sesame").keepExpiredAccount(at: sandbox)
    let before = try Data(contentsOf: URL(filePath: path))
    let token = try start(["token"])
    try await answer("Passphrase of \(path): ", "open barley")
    #expect(await token.outcome().status == 1)
    try await shows("error: wrong_passphrase: ")
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    await sandbox.stop()
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal at the passphrase prompt cancels the command`(signal: Int32) async throws {
    let modes = terminal.modes
    let demo = try start(["login", "--issuer", "https://id.example.com", "--client-id", "x"])
    try await eventually("the passphrase prompt appears") {
      terminal.everything.hasSuffix("Passphrase: ")
    }
    #expect(terminal.modes != modes)
    demo.send(signal)
    let outcome = await demo.outcome()
    #expect(outcome.status == 3 && !outcome.isKilled)
    try await shows("\r\nerror: cancelled: no passphrase was given")
    #expect(terminal.modes == modes)
    #expect(!folder.exists("tokens"))
  }

  @Test func `the end of the input at the passphrase prompt cancels the command`() async throws {
    let demo = try start(["login", "--issuer", "https://id.example.com", "--client-id", "x"])
    try await eventually("the passphrase prompt appears") {
      terminal.everything.hasSuffix("Passphrase: ")
    }
    try terminal.press("\u{4}")
    #expect(await demo.outcome().status == 3)
  }

  @Test
  func `the passphrase file is preferred to the environment, and no browser gets the passphrase`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try folder.write("open sesame\nmore\n", to: "passphrase")
    let seen = folder.file("seen")
    let outcome = try await DemoProcess.interrupted(
      [
        "login", "--browser", "sh -c 'trap \"\" INT; env >\(seen); echo end >>\(seen)'", "--issuer",
        sandbox.issuer.absoluteString, "--client-id", "sandbox-app", "--store", "encrypted:" + path,
      ], in: folder, environment: ["SQ_STORE_PASSPHRASE": "open barley"])
    #expect(outcome.status == 3)
    #expect(folder.read("seen").contains("HOME="))
    #expect(!folder.read("seen").contains("SQ_STORE_PASSPHRASE"))

    let login = try await DemoProcess.run(
      login(sandbox) + [
        "--store", "encrypted:" + path, "--passphrase-file", folder.file("passphrase"),
      ],
      in: folder, environment: ["SQ_STORE_PASSPHRASE": "open barley"])
    #expect(login.status == 0, "\(login.errors)")
    #expect(try await store("open sesame").list() == ["default"])
    await sandbox.stop()
  }
}

@Suite struct `The store option` {
  @Test(arguments: [
    ("memory", StoreOption.memory), ("file:/x/y", .file("/x/y")), ("file:a:b", .file("a:b")),
    ("keyring", .keyring), ("encrypted:x", .encrypted("x")), ("sqlite:x", .sqlite("x")),
    ("encrypted-sqlite:x", .encryptedSQLite("x")),
  ])
  func `the store option accepts each local store`(text: String, option: StoreOption) throws {
    #expect(try StoreOption(text) == option)
  }

  @Test(arguments: ["postgresql://app@db.example/tokens", "postgres:///tokens?host=/run/db"])
  func `the store option accepts the address of a database`(text: String) throws {
    let address = try #require(try DatabaseAddress(text))
    #expect(try StoreOption(text) == .postgreSQL(address) && address.text == text)
  }

  @Test(arguments: [
    "postgresql://u@h:5432/d?sslmode=require&passfile=/x&sslkey=/y", "postgresql://h?user=u",
    "postgresql:///d?host=/run/db:x",
  ])
  func `the store option accepts an address with parameters that are no secrets`(
    text: String
  ) throws {
    #expect(try DatabaseAddress(text)?.text == text)
  }

  @Test(arguments: [
    ("u@h/d?sslpassword=hidden", "sslpassword"), ("u@h/d?x=y&SSLPassword=hidden", "sslpassword"),
    ("h/d?ssl%70ass%77ord=hidden", "sslpassword"), ("h?%20sslpassword%20=hidden", "sslpassword"),
    ("u?x@h/d?sslpassword=hidden", "sslpassword"), ("u@h?sslpassword=hidden@x", "sslpassword"),
    ("h/d?oauth_client_secret=hidden", "oauth_client_secret"),
    ("h/d?scram_client_key=hidden", "scram_client_key"),
    ("h/d?scram_server_key=hidden", "scram_server_key"),
    ("h/d?pass%77ord=hidden", "PGPASSWORD"), ("h/d? password =hidden", "PGPASSWORD"),
    ("u?x:hidden@h/d", "PGPASSWORD"), ("u:hidden@x@h/d", "PGPASSWORD"),
    ("u:\u{301}hidden@h/d", "PGPASSWORD"), ("h/d?x=y&\u{301}&password=\u{301}hidden", "PGPASSWORD"),
  ])
  func `the store option rejects an address that contains a secret`(
    address: String, name: String
  ) throws {
    for scheme in ["postgresql://", "postgres://"] {
      let failure = try #require(throws: Failure.self) { try StoreOption(scheme + address) }
      #expect(failure.status == .wrongUsage && failure.message.contains(name))
      #expect(!failure.lines.joined().contains("hidden"))
    }
  }

  @Test(arguments: [
    "", "memory:", "memory:x", "FILE:/x", "keyring:", "encrypted-file:x", "files:",
  ])
  func `the store option rejects an unknown store`(text: String) throws {
    let failure = try #require(throws: Failure.self) { try StoreOption(text) }
    #expect(failure.status == .wrongUsage)
    #expect(failure.message.contains("encrypted-sqlite:PATH"))
  }

  @Test(arguments: [
    ("host=db user=app password=hidden", nil),
    ("Postgresql://app:hidden@db/tokens", "Postgresql:..."),
    ("pgsql://app:hidden@db/t", "pgsql:..."), ("postgresql:/app:hidden@db", "postgresql:..."),
    ("hidden4711", nil), ("keyrnig", "keyrnig"),
  ])
  func `the error of an unknown store quotes nothing that may be a password`(
    text: String, quoted: String?
  ) throws {
    let failure = try #require(throws: Failure.self) { try StoreOption(text) }
    #expect(!failure.lines.joined().contains("hidden"))
    #expect(failure.message.contains("not \"\(quoted ?? "")") == (quoted != nil))
  }

  @Test(arguments: ["file", "encrypted", "sqlite", "encrypted-sqlite"], ["", ":"])
  func `the store option reports a missing path`(kind: String, end: String) throws {
    let failure = try #require(throws: Failure.self) { try StoreOption(kind + end) }
    #expect(
      failure == .usage("--store \(kind)\(end) names no file; write --store \(kind):PATH"))
  }

  /// The program accepts any file of root, because it may be a secret of a container.
  ///
  /// So the test runs the program as another user.
  @Test(
    .requires("root", getuid() == 0), arguments: ["--passphrase-file", "--client-secret-file"],
    [0o644, 0o640, 0o604, 0o600])
  func `a secret file that other users can read is rejected`(
    option: String, mode: Int
  ) async throws {
    let (folder, files) = (try TemporaryFolder(), FileManager.default)
    try folder.write("open sesame\n", to: "secret")
    try files.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.file("secret"))
    for path in [folder.path, folder.file("secret")] {
      try files.setAttributes([.ownerAccountID: 65534], ofItemAtPath: path)
    }
    let outcome = try await DemoProcess.run(
      [
        "login", "--issuer", "http://127.0.0.1:1", "--client-id", "app", "--store",
        "encrypted:" + folder.file("tokens"), option, folder.file("secret"),
      ],
      in: folder, starter: ["setpriv", "--reuid=65534", "--clear-groups"])
    #expect(outcome.status != 0)
    #expect(outcome.errors.contains("chmod 600") == (mode != 0o600), "\(outcome.errors)")
    #expect(outcome.firstError.hasPrefix("error: usage: ") == (mode != 0o600), "\(outcome.errors)")
  }
}
