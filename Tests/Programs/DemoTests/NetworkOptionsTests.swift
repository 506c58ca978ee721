import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// The network options, and the files and addresses that the program checks before it sends
/// anything.
@Suite(.timeLimit(.minutes(1)), .requires(ProgramRequirement(programs: ["openssl"])))
struct `The network's options` {
  private let folder: TemporaryFolder
  private let certificates: Certificates

  init() async throws {
    folder = try TemporaryFolder()
    certificates = try await Certificates()
  }

  private func network(
    _ words: [String], password: String? = nil
  ) throws(Failure) -> NetworkOptions {
    try NetworkOptions(
      Arguments(
        words, options: NetworkOptions.options,
        secrets: Secrets(proxyPassword: password.map { Secret(.proxyPassword, $0) })))
  }

  private func message(_ words: [String], password: String? = nil) throws -> String {
    let failure = try #require(throws: Failure.self) { try network(words, password: password) }
    #expect(failure.status == .wrongUsage)
    return failure.message
  }

  private func openssl(_ words: String...) async throws {
    let result = try await ChildProcess.run(["openssl"] + words)
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test func `without options, the program changes only the user agent of the SDK's settings`()
    throws
  {
    let network = try network([])
    var expected = HTTPTransportConfiguration()
    expected.userAgent = "sq-demo/\(Release.version) SequencingOAuth/\(Release.version)"
    #expect(network.configuration == expected)
    #expect(network.words.isEmpty)
  }

  @Test(arguments: ["--cacert", "--ca"])
  func `the options --cacert and --ca read certificate authorities from a file`(option: String)
    throws
  {
    let path = certificates.path("ca.pem")
    let network = try network([option, path])
    #expect(try network.configuration.additionalAuthorities == certificates.data("ca.pem"))
    #expect(network.words == ["--cacert", path])
  }

  @Test(arguments: [
    ("missing", "cannot be read: No such file or directory"),
    (".", "cannot be read: Is a directory"), ("empty", "is empty"),
    ("text", "has no certificate in PEM"), ("damaged", "has no certificate in PEM"),
    ("key", "has no certificate in PEM"), ("cut", "cannot be read from certificate 2 on"),
    ("second", "cannot be read from certificate 2 on"),
    ("der", "'openssl x509 -inform der -in FILE -out FILE.pem'"),
    ("p12", "'openssl pkcs12 -nodes -in FILE -out FILE.pem'"), ("long", "is longer than"),
  ])
  func `a file without usable certificates is refused with the reason or with advice`(
    name: String, reason: String
  ) async throws {
    let authority = certificates.path("ca.pem")
    try folder.write("", to: "empty")
    try folder.write("authority", to: "text")
    try folder.write(String(repeating: "A", count: 5 << 20), to: "long")
    try folder.write(
      "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n", to: "damaged")
    let whole = String(decoding: try certificates.data("ca.pem"), as: UTF8.self)
    try folder.write(whole + whole.prefix(200), to: "cut")
    try folder.write(
      whole + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", to: "second")
    try await openssl("pkey", "-in", certificates.path("client.key"), "-out", folder.file("key"))
    try await openssl("x509", "-in", authority, "-outform", "der", "-out", folder.file("der"))
    try await openssl(
      "pkcs12", "-export", "-in", certificates.path("client.pem"), "-inkey",
      certificates.path("client.key"), "-passout", "pass:x", "-out", folder.file("p12"))
    let path = folder.file(name)
    let message = try message(["--cacert", path])
    #expect(message.hasPrefix("--cacert \(path) "))
    #expect(message.contains(reason), "\(message)")
  }

  // MARK: The proxy

  @Test(arguments: [
    ("proxy.example:8080", "http://proxy.example:8080"),
    ("ftp.example:21", "http://ftp.example:21"),
    ("https://proxy.example", "https://proxy.example"), ("[::1]:8080", "http://[::1]:8080"),
    ("socks5h://proxy.example:1080", "socks5h://proxy.example:1080"),
    ("alice@proxy.example:8080", "http://alice:%70%2f%40%3a@proxy.example:8080"),
  ])
  func `the address of a proxy may have a scheme or none`(text: String, url: String) throws {
    let network = try network(["--proxy", text], password: "p/@:")
    guard case .url(let proxy) = network.configuration.proxy else {
      Issue.record("the proxy of the configuration is not a URL")
      return
    }
    #expect(proxy.absoluteString == url)
    #expect(network.words == ["--proxy", text])
  }

  @Test func `the option --proxy none disables the proxy`() throws {
    #expect(try network(["--proxy", "none"]).configuration.proxy == .none)
  }

  @Test(arguments: [
    ("ftp://proxy.example:21", "has a scheme that no proxy has"),
    ("http://", "must have the form http://HOST:PORT"), ("http://:80", "the form http://HOST:PORT"),
    ("proxy.example:99999", "the form http://HOST:PORT"), ("a b", "the form http://HOST:PORT"),
    ("http://alice:canary@proxy.example", "a password is never an argument"),
    ("alice:canary@proxy.example:80", "a password is never an argument"),
    ("http://alice:can@ary@proxy.example", "a password is never an argument"),
    // A colon or an at sign and the mark after it form one Character.
    ("alice:\u{301}canary@proxy.example:80", "a password is never an argument"),
    ("http://alice:canary@\u{301}proxy.example", "a password is never an argument"),
    ("http://alice:can/ary@proxy.example", "a password is never an argument"),
  ])
  func `an unusable proxy is refused, and its password is not shown`(
    text: String, reason: String
  ) throws {
    let message = try message(["--proxy", text], password: "canary")
    #expect(message.contains(reason), "\(message)")
    #expect(!message.contains("canary") && !message.contains("ary@"))
  }

  @Test func `the option --proxy-password is refused, and its value is not shown`() throws {
    let message = try message(["--proxy-password", "canary"])
    #expect(message.contains("SQ_PROXY_PASSWORD") && !message.contains("canary"))
  }

  // MARK: The certificate

  @Test func `a client certificate and its key can be in two files or in one file`() async throws {
    try secure("client.key")
    let (chain, key) = (certificates.path("client.pem"), certificates.path("client.key"))
    let two = try network(["--client-cert", chain, "--client-cert-key", key])
    #expect(
      try two.configuration.clientCertificate
        == .init(
          chain: certificates.data("client.pem"), privateKey: certificates.data("client.key")))
    let both = try certificates.data("client.pem") + certificates.data("client.key")
    try folder.write(String(decoding: both, as: UTF8.self), to: "both.pem")
    try secure(folder.file("both.pem"))
    let one = try network(["--client-cert", folder.file("both.pem")])
    #expect(one.configuration.clientCertificate == .init(chain: both, privateKey: both))
  }

  private func secure(_ name: String) throws {
    let path = name.hasPrefix("/") ? name : certificates.path(name)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  @Test func `an unusable client certificate or key is refused, and the error gives the reason`()
    async throws
  {
    for name in ["client.pem", "client.key", "other.key"] { try secure(name) }
    let (chain, key) = (certificates.path("client.pem"), certificates.path("client.key"))
    try await openssl(
      "pkey", "-in", key, "-aes256", "-passout", "pass:x", "-out", folder.file("sealed"))
    try secure(folder.file("sealed"))
    let rows: [([String], String)] = [
      (["--client-cert-key", key], "--client-cert-key needs --client-cert"),
      (["--client-cert", chain], "\(chain) has no private key in PEM; name the key's file"),
      (["--client-cert", key], "--client-cert \(key) has no certificate in PEM"),
      (
        ["--client-cert", chain, "--client-cert-key", certificates.path("other.key")],
        "belongs to another certificate"
      ),
      (
        ["--client-cert", chain, "--client-cert-key", folder.file("sealed")],
        "is encrypted; 'openssl pkey -in FILE -out PLAIN' decrypts it"
      ),
      (["--client-cert", chain, "--client-cert-key", chain], "has no private key in PEM"),
    ]
    for (words, reason) in rows {
      let message = try message(words)
      #expect(message.contains(reason), "\(message)")
    }
  }

  /// The program accepts any file of root, because it may be a secret of a container.
  ///
  /// So if root runs the tests, the test runs the program as another user.
  @Test(arguments: [0o644, 0o640, 0o604, 0o600])
  func `a client certificate's key that other users can read is rejected`(mode: Int) async throws {
    let (chain, key) = (folder.file("client.pem"), folder.file("client.key"))
    try certificates.data("client.pem").write(to: URL(filePath: chain))
    try certificates.data("client.key").write(to: URL(filePath: key))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
    let isRoot = geteuid() == 0
    for path in isRoot ? [folder.path, chain, key] : [] {
      try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: path)
    }
    let outcome = try await DemoProcess.run(
      [
        "login", "--issuer", "http://127.0.0.1:1", "--client-id", "app", "--client-cert", chain,
        "--client-cert-key", key,
      ], in: folder, starter: isRoot ? ["setpriv", "--reuid=65534", "--clear-groups"] : [])
    #expect(outcome.status == (mode == 0o600 ? 1 : 2), "\(outcome.errors)")
    #expect(outcome.errors.contains("chmod 600") == (mode != 0o600), "\(outcome.errors)")
    #expect(outcome.firstError.hasPrefix("error: usage: ") == (mode != 0o600), "\(outcome.errors)")
  }

  // MARK: The commands

  @Test(arguments: [
    "tour", "login", "whoami", "token", "discover", "call", "files", "rpc", "watch", "revoke",
    "logout",
  ])
  func `each command that contacts a server has the network options`(name: String) throws {
    let command = try #require(SQDemo.commands.first { $0.name == name })
    for option in NetworkOptions.options { #expect(command.options.contains(option)) }
  }

  @Test func `commands that contact no other machine have no network options`() throws {
    for name in ["accounts", "sandbox", "cookbook", "explain", "completion"] {
      let command = try #require(SQDemo.commands.first { $0.name == name })
      #expect(!NetworkOptions.options.contains { command.options.contains($0) })
    }
  }
}
