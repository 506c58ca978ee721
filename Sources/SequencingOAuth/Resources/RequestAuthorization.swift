public import SQBasics

/// The header fields that authorize one request, for programs that send it with their own client.
///
/// An adapter for another HTTP library gets one from ``AccountOperations/authorization(for:)``, puts
/// ``fields`` on the request and sends it. It then passes the response's status and header fields to
/// ``renewed(afterStatus:fields:)``, and sends the request once more if that returns another value.
/// ``AccountOperations/send(_:)`` does all of this for requests that the SDK sends.
public struct RequestAuthorization: Sendable {
  private let addressed: AddressedToken
  /// Whether the token has already replaced a refused one.
  private let isReplacement: Bool

  init(_ addressed: AddressedToken, isReplacement: Bool = false) {
    self.addressed = addressed
    self.isReplacement = isReplacement
  }

  /// The fields that carry the token; they replace the request's fields with the same names.
  public var fields: HeaderFields { addressed.fields }

  /// Returns the authorization for a second attempt, or `nil` if another token cannot help.
  ///
  /// It is `nil` unless the response refuses the token: status 401, without an error code that
  /// names another reason. If several requests were refused with the same token, it is refreshed
  /// only once. If a server refuses the fresh token too, it gets no third token, and its later
  /// refusals cause no refresh for a while. The method must not be called for a request whose
  /// content cannot be sent again.
  ///
  /// - Throws: ``SQOAuthError``: the errors of ``AccountOperations/token()``.
  /// - SeeAlso: RFC 6750, section 3.1
  public func renewed(
    afterStatus status: Int, fields: HeaderFields
  ) async throws(SQOAuthError) -> RequestAuthorization? {
    let response = WebResponse(status: status, headers: fields)
    guard let refusal = ResourceRefusal(response, of: addressed.token), refusal.isWorthRefresh
    else { return nil }
    guard !isReplacement else {
      addressed.wasRefused(refusal.error)
      return nil
    }
    return try await addressed.replaced().map { RequestAuthorization($0, isReplacement: true) }
  }

  /// Returns the error of a response that refuses the token or its scope; otherwise `nil`.
  ///
  /// Throw it to the app if ``renewed(afterStatus:fields:)`` returned `nil`. Its code is the
  /// server's, such as ``SQOAuthError/Code/insufficientScope``, and
  /// ``SQOAuthError/challenge`` has the server's challenge, in which the token never appears.
  public func refusal(status: Int, fields: HeaderFields) -> SQOAuthError? {
    ResourceRefusal(WebResponse(status: status, headers: fields), of: addressed.token)?.error
  }
}

extension RequestAuthorization: Redacted {
  /// The server that may get the token, without the token.
  public var description: String { "authorization for \(addressed.origin)" }
}
