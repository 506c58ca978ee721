import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// The samples of the section "A key in hardware" in `BindingTokens.md`: the shell commands that
/// create the key, and the code that signs with it.
@Suite(
  .requires(ProgramRequirement(programs: ["softhsm2-util", "pkcs11-tool"])),
  .disabled(if: isSanitized, "the built program is the same without a sanitizer"),
  .timeLimit(.minutes(5)))
struct HardwareKeySampleTests {
  @Test
  func `the article's program signs DPoP proofs with the key that the article's commands create`()
    async throws
  {
    let folder = try TemporaryFolder()
    try folder.write("directories.tokendir = \(folder.file(""))\n", to: "conf")
    var environment = ["SOFTHSM2_CONF": folder.file("conf")]
    let made = try await ChildProcess.run(
      ["sh", "-ec", "cd \(folder.file(""))\n" + commands()], environment: environment)
    try #require(made.status == 0, "\(made.errors)")

    var options = SandboxOptions()
    options.dpop = SandboxDPoPOptions(.required)
    let sandbox = try await SandboxServer.start(options)
    // The program's file exists only as long as the builder.
    let builder = try ProgramBuilder()
    let program = try await builder.build(
      "signer", ["main.swift": code(for: sandbox)], ["-swift-version", "6"])
    environment["BROWSER"] = "echo"
    environment["MODULE"] = "/usr/lib/softhsm/libsofthsm2.so"
    environment["PIN"] = "1234"
    let process = try ChildProcess(
      [program, folder.read("public.json")], environment: environment)
    try await process.signIn(at: sandbox)
    let result = try await process.result()
    #expect(result.output == "The token is bound.\n", "\(result.errors)")
    let proof = try #require(sandbox.requests(to: .token).first?.proof)
    let key = try JSONDecoder().decode(
      [String: JSONValue].self, from: Data(folder.read("public.json").utf8))
    #expect(proof.keyThumbprint == ClientKey.thumbprint(of: key))
    await sandbox.stop()
  }

  private func commands() throws -> String {
    let path = "Sources/SequencingOAuth/SequencingOAuth.docc/BindingTokens.md"
    let article = try String(
      contentsOf: PackageSources.root.appending(path: path), encoding: .utf8)
    let block = article.split(separator: "```").first {
      $0.hasPrefix("sh\n") && $0.contains("softhsm2-util")
    }
    return String(try #require(block).dropFirst(3))
  }

  /// Returns the sample, followed by a sign-in with the sample's key.
  private func code(for sandbox: SandboxServer) throws -> String {
    let sample = try #require(try Sample.all().first { $0.code.contains("func hardwareKey(") })
    return """
      \(sample.code)
      var client = try ClientConfiguration(
        clientID: "\(SandboxClient.app.id)", redirectURI: "http://127.0.0.1/callback",
        scope: "profile", provider: .issuer("\(sandbox.issuer.absoluteString)"))
      client.tokenBinding = .dpopKey(try hardwareKey(publicJWK: CommandLine.arguments[1]))
      let token = try await AuthorizationModule(configuration: client).signIn()
      print(token.isBound ? "The token is bound." : "The token is not bound.")
      """
  }
}
