import SQBasics
import SQFoundation

/// The check of the request parameter `resource`, which identifies a resource server.
///
/// - SeeAlso: RFC 8707, section 2
enum ResourceIndicator {
  /// Throws unless the identifier is an absolute URI without a fragment.
  static func check(_ identifier: String) throws(SQOAuthError) {
    guard URL(string: identifier)?.scheme != nil, !identifier.contains("#") else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the resource \"\(identifier.printable)\" must be an absolute URI without a fragment")
    }
  }
}
