import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import SequencingOAuthPipes
import TestSupport
import Testing

/// Runs each way to distinguish errors that the documentation shows.
@Suite(.timeLimit(.minutes(1))) struct ErrorHandlingTests {
  @Test(arguments: ErrorClauses.all)
  func `a catch clause catches only the errors that it names`(
    clauses: ErrorClauses
  ) async {
    for code in [SQOAuthError.Code.accessDenied, .cancelled] {
      #expect(await clauses.outcome(code) == "no")
    }
    for code in [SQOAuthError.Code.invalidGrant, .serverError, .init(rawValue: "of_a_server")] {
      #expect(await clauses.outcome(code) == code.rawValue)
    }
  }

  @Test(arguments: StatusClauses.all)
  func `a catch clause catches only the gRPC errors that it names`(
    clauses: StatusClauses
  ) async {
    for status in [RPCStatus.unauthenticated, .permissionDenied] {
      #expect(await clauses.outcome(status) == "sign in")
    }
    for status in [RPCStatus.unavailable, .init(rawValue: 99)] {
      #expect(await clauses.outcome(status) == status.description)
    }
  }

  @Test
  func `an error of another type matches no code, and an empty list of codes matches no error`() {
    let error = SQOAuthError(.cancelled, "as asked")
    #expect(!error.is() && !RPCCallError(.ok, "").is())
    let others: [any Error] = [PipeError.failed(error), RPCCallError(.cancelled, "", cause: error)]
    for other in others { #expect(!(SQOAuthError.Code.cancelled ~= other)) }
    #expect(!(RPCStatus.cancelled ~= (error as any Error)))
  }

  @Test func `the article's samples behave as described without a signed-in user`() async throws {
    let module = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "app", redirectURI: "http://127.0.0.1/callback", scope: "files",
        provider: .issuer("https://id.example.com")))
    #expect(try await tokenToShow(of: module) == nil)
    #expect(await tokenOrReason(of: module) == "Sign in again.")
    #expect(try await isSignedIn(module) == false)
    let folder = try TemporaryFolder()
    try await saveTokenType(of: module, to: URL(filePath: folder.file("type")))
    #expect(!FileManager.default.fileExists(atPath: folder.file("type")))
    let (shown, continuation) = AsyncStream.makeStream(of: String.self)
    showToken(of: module) { continuation.yield($0) }
    #expect(await shown.first { _ in true } == "not_authorized")
  }

  @Test func `the code in ErrorSamples.swift contains the samples of the article`() throws {
    let file = PackageSources.root.appending(
      path: "Tests/Programs/DocumentationTests/ErrorSamples.swift")
    let run = try String(contentsOf: file, encoding: .utf8)
    // The article's sample about the names of types is not in `ErrorSamples.swift`.
    let samples = try Sample.all().filter { $0.document.hasSuffix("/HandlingErrors.md") }
      .filter { !$0.code.contains("struct Provider") }
    #expect(samples.count == 5)
    for sample in samples {
      let code = sample.code.split(separator: "\n", omittingEmptySubsequences: false)
        .drop { $0.isEmpty || $0.hasPrefix("import ") }.joined(separator: "\n")
      #expect(run.contains(code), "\(sample)")
    }
  }
}
