public import SQBasics
public import SQFoundation
import SequencingOAuth

/// A web application's sign-in that has begun and is not finished yet.
///
/// ``SequencingOAuth/AccountManager/beginSignIn(_:with:)`` creates it, and
/// ``SequencingOAuth/AccountManager/finishSignIn(_:redirect:_:id:)`` uses it, in any process and on
/// any host. The SDK stores nothing in the meantime. The application must store this value so that
/// only the user's browser gives access to it: encoded in the server's session for that browser, or
/// sealed by a ``WebSignInSealer`` in a cookie.
///
/// The value contains the code verifier and the `state`. An attacker who has them could finish the
/// sign-in with a stolen code, or make a victim finish the attacker's sign-in. So never send the
/// value to a browser unsealed.
public struct WebSignIn: Sendable, Hashable {
  /// The moment when the sign-in expires, in whole seconds.
  ///
  /// It is `ClientConfiguration.signInTimeout` after the sign-in began. The clock of the host that
  /// finishes the sign-in may be ahead by `ClientConfiguration.clockTolerance`.
  public let expirationDate: Date
  let request: CodeRequest

  init(_ request: CodeRequest, expirationDate: Date) {
    self.request = request
    self.expirationDate = Self.wholeSeconds(expirationDate)
  }

  private static func wholeSeconds(_ date: Date) -> Date {
    Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.up))
  }
}

extension WebSignIn: Codable {
  /// The allowed expiration dates, in seconds since 1970: the years 1970 to 9999.
  private static let range: ClosedRange<Int64> = 0...253_402_300_799

  private enum CodingKeys: String, CodingKey {
    case expiration = "exp"
    case request
  }

  /// Decodes a sign-in that was encoded by ``encode(to:)``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let seconds = try container.decode(Int64.self, forKey: .expiration)
    guard Self.range.contains(seconds) else {
      throw DecodingError.dataCorruptedError(
        forKey: .expiration, in: container,
        debugDescription: "the date is not in the years 1970 to 9999")
    }
    expirationDate = Date(timeIntervalSince1970: Double(seconds))
    request = try container.decode(CodeRequest.self, forKey: .request)
    let began = request.identity.requestDate?.timeIntervalSince1970 ?? 0
    guard Self.range.contains(Int64(exactly: began) ?? -1) else {
      throw DecodingError.dataCorruptedError(
        forKey: .request, in: container,
        debugDescription: "the request was not made in the years 1970 to 9999")
    }
  }

  /// Encodes the sign-in with its secrets.
  ///
  /// A date is always encoded as seconds; the encoder's settings for dates have no effect.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Int64(expirationDate.timeIntervalSince1970), forKey: .expiration)
    try container.encode(request, forKey: .request)
  }
}

extension WebSignIn: Redacted {
  /// The client and the server, without the sign-in's secrets.
  public var description: String {
    "web sign-in of client \(request.clientID.printable) at \(request.provider.printable)"
  }
}
