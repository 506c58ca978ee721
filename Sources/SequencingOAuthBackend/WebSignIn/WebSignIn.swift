public import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A sign-in of a web application's user, between the request that begins it and the one that
/// finishes it.
///
/// ``AccountManager/beginSignIn(_:with:)`` makes it, and
/// ``AccountManager/finishSignIn(_:redirect:_:id:)`` uses it, in any process and on any host. In the
/// meantime the SDK keeps nothing. The application keeps this value where only the user's browser
/// leads to it: in the server's session of that browser, as `Codable`, or in a cookie, sealed by a
/// ``WebSignInSealer``.
///
/// The value holds the code verifier and the `state`. A party that has them could finish the
/// sign-in with a stolen code, or make a victim finish the party's own. So never send the value to a
/// browser unsealed.
public struct WebSignIn: Sendable, Hashable {
  /// When the sign-in is too late to be finished: ``ClientConfiguration/signInTimeout`` after its
  /// beginning, in whole seconds.
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
  /// The years 1970 to 9999, in seconds since 1970.
  private static let range: ClosedRange<Int64> = 0...253_402_300_799

  private enum CodingKeys: String, CodingKey {
    case expiration = "exp"
    case request
  }

  /// Reads a sign-in that ``encode(to:)`` wrote.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let seconds = try container.decode(Int64.self, forKey: .expiration)
    guard Self.range.contains(seconds) else {
      throw DecodingError.dataCorruptedError(
        forKey: .expiration, in: container, debugDescription: "no date within four-digit years")
    }
    expirationDate = Date(timeIntervalSince1970: Double(seconds))
    request = try container.decode(CodeRequest.self, forKey: .request)
  }

  /// Writes the sign-in with its secrets; a date is written as seconds, whatever the encoder does
  /// with dates.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Int64(expirationDate.timeIntervalSince1970), forKey: .expiration)
    try container.encode(request, forKey: .request)
  }
}

extension WebSignIn: Redacted {
  /// The client and the server alone.
  public var description: String {
    "web sign-in of client \(request.clientID.printable) at \(request.provider.printable)"
  }
}
