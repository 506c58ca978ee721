import SQFoundation
import SequencingOAuth
import SequencingOAuthGRPC

/// A server's answer about the token of a call.
struct RPCAnswer: Encodable {
  let scope: String
  let user: String

  init(_ response: TestService.Response) {
    scope = response.oauthScope
    user = response.username
  }

  var sentence: String { "Used scope: \(scope.onScreen) on behalf of user \(user.onScreen)" }
}

/// A gRPC server, and the call that the demo makes there.
struct RPCServer: Sendable {
  /// The text shown until the call has ended.
  static let waiting = "Waiting for RPC to complete..."

  private let url: URL
  private let configuration: HTTPTransportConfiguration
  private let timeout: Duration

  /// Creates a server from its URL; fails if a token must not be sent there.
  ///
  /// A call to the server may take at most `timeout`.
  init(
    _ text: String, network: NetworkOptions = NetworkOptions(), timeout: Duration = .seconds(60)
  ) throws(Failure) {
    self.timeout = timeout
    // The server gets a token, and a token must not go to another machine without encryption.
    _ = try Failure.refusing(address: text) { () throws(SQOAuthError) in
      try ResourceOrigin(text)
    }
    guard let url = URL(string: text) else { throw .usage("the server's URL cannot be used") }
    self.url = url
    configuration = network.configuration
    _ = try channel(.none)
  }

  /// Calls the server and returns its answer about the token.
  ///
  /// The call carries the credential's token. An account's token is refreshed if it has expired or
  /// the server rejects it.
  func ask(with credential: RPCCredential) async throws(Failure) -> RPCAnswer {
    let channel = try channel(credential)
    do throws(RPCCallError) {
      return RPCAnswer(
        try await channel.unary(TestService.unaryCall, Self.request, timeout: timeout))
    } catch {
      throw Failure(error)
    }
  }

  /// Calls the server for a screen, and passes the answer to the completion.
  @MainActor
  func ask(
    with credential: RPCCredential,
    _ completion: @escaping @MainActor (Result<RPCAnswer, Failure>) -> Void
  ) {
    do throws(Failure) {
      try channel(credential).unary(TestService.unaryCall, Self.request, timeout: timeout) {
        completion($0.map(RPCAnswer.init).mapError { Failure($0) })
      }
    } catch {
      completion(.failure(error))
    }
  }

  private static let request = TestService.Request(fillUsername: true, fillOAuthScope: true)

  private func channel(_ credential: RPCCredential) throws(Failure) -> RPCChannel {
    do throws(RPCCallError) {
      return try RPCChannel(url: url, credential: credential, configuration: configuration)
    } catch {
      throw .usage(error.message)
    }
  }
}
