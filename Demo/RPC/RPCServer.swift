import SQFoundation
import SequencingOAuth
import SequencingOAuthGRPC

extension Option {
  static let authorities = Option(
    "--ca", value: "FILE",
    help: "A file of certificates in PEM: authorities for the gRPC server's certificate, besides "
      + "the system's.")
}

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
  /// The maximum size of a file of certificates, in bytes.
  private static let limit = 1 << 20

  private let url: URL
  private let configuration: HTTPTransportConfiguration
  private let timeout: Duration

  /// Checks the address and reads the certificates.
  ///
  /// A call to the server may take `timeout`.
  init(
    _ text: String, authorities path: String?, timeout: Duration = .seconds(60)
  ) throws(Failure) {
    self.timeout = timeout
    do throws(SQOAuthError) {
      // The server gets a token, and a token must not go to another machine without encryption.
      _ = try ResourceOrigin(text)
    } catch {
      throw .refused(error)
    }
    guard let url = URL(string: text) else { throw .usage("the server's URL cannot be used") }
    self.url = url
    var configuration = HTTPTransportConfiguration()
    if let path {
      guard url.scheme?.lowercased() == "https" else {
        throw .usage("--ca is for a server whose URL begins with https")
      }
      configuration.additionalAuthorities = try Self.authorities(path)
    }
    self.configuration = configuration
    _ = try channel(.none)
  }

  private static func authorities(_ path: String) throws(Failure) -> Data {
    let bytes: [UInt8]
    do throws(FileReading.ReadError) {
      bytes = try FileReading.start(of: path, atMost: limit + 1)
      guard bytes.count <= limit else {
        throw FileReading.ReadError("it is longer than \(limit) bytes")
      }
    } catch {
      throw .unreadable("--ca \(path)", error)
    }
    guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
      throw .usage("--ca \(path.onScreen) has no certificate in PEM")
    }
    return Data(bytes)
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
