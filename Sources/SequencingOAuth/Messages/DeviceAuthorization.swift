public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a user needs to sign in on another device: an address and a code to enter there.
///
/// Show the address and the code, and for as long as they are valid the time that is left. If there
/// is an address with the code in it, also show that one as a QR code or a link.
///
/// - SeeAlso: RFC 8628, section 3.3
public struct DeviceAuthorization: Sendable, Hashable {
  /// The longest time that a code is valid for the SDK: one day, in seconds.
  static let longestLifetime = 86_400.0

  /// The code that the user enters, such as `WDJB-MJHT`; it contains no control characters.
  public let userCode: String
  /// The address at which the user enters the code; it is short, so that the user can type it.
  public let verificationURI: URL
  /// The address of the page that knows the code already; `nil` if the server has none.
  ///
  /// Show the ``userCode`` beside it: the page may ask the user whether the codes are equal, so
  /// that nobody is led to sign in for someone else.
  public let verificationURIComplete: URL?
  /// When the code expires: the time that the server set, and a day at most.
  ///
  /// The sign-in then ends with ``SQOAuthError/Code/expiredToken``.
  public let expirationDate: Date

  /// Makes a value for an app's own tests and previews.
  public init(
    userCode: String, verificationURI: URL, verificationURIComplete: URL? = nil,
    expirationDate: Date
  ) {
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.expirationDate = expirationDate
  }
}

extension DeviceAuthorization: Redacted {
  /// The address without the code, since anyone who has the code could sign in with it.
  public var description: String { "device authorization at \(verificationURI)" }
}
