import SQBasics
import SequencingOAuth

/// The rule whether the error of a renewal is about the whole server or only about the account.
///
/// A refused grant says nothing about another one. Some errors can have either reason, so they
/// count against the server only if two accounts in a row fail alike.
///
/// - SeeAlso: RFC 6749, section 5.2
final class ServerFailures: Sendable {
  /// For each server, the account whose renewal was the last to end, if it ended with such an error.
  private let last = Locked([ServerName: (id: String, code: SQOAuthError.Code)]())

  /// The number of servers above which all are forgotten, so that the keeper's memory is limited.
  private static let limit = 1000

  /// Returns whether renewals of the server's other accounts would now fail too.
  func concernServer(_ error: SQOAuthError, of record: AccountRecord) -> Bool {
    if error.concernsServer { return true }
    guard error.mayConcernServer else {
      clear(ServerName(of: record))
      return false
    }
    return last.withLock { last in
      if last.count >= Self.limit { last = [:] }
      let earlier = last.updateValue((record.id, error.code), forKey: ServerName(of: record))
      return earlier.map { $0.id != record.id && $0.code == error.code } ?? false
    }
  }

  /// Notes that the last renewal at a server had no error that may be the server's.
  func clear(_ server: ServerName) {
    last.withLock { $0[server] = nil }
  }
}

extension SQOAuthError {
  /// Whether requests for the client's other accounts would now fail with this error too.
  fileprivate var concernsServer: Bool {
    // The account's source of assertions, or the client's key, is not the server's.
    if code == .clientKeyFailed { return false }
    return retryAfter != nil || isOutage || [.invalidClient, .unsupportedGrantType].contains(code)
  }

  /// Whether the reason may be the server or the client, but also this account alone.
  ///
  /// With `unauthorized_client`, some servers refuse a refresh token, and others a wrong secret.
  var mayConcernServer: Bool {
    !concernsServer
      && [.invalidResponse, .redirectRefused, .responseTooLarge, .unauthorizedClient].contains(code)
  }
}
