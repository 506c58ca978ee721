import SQBasics
import SQFoundation
import SequencingOAuth

extension Option {
  static let drive = Option(
    "--drive", value: "URL",
    help: "The API that has the files: the base URL of an API like Google Drive v2, or a list like "
      + "Sequencing's, which ends in DataSourceList. The default depends on the provider: the "
      + "APIs of Google and of Sequencing, and /drive/v2 at any other provider.")
}

/// The address of the API that provides an account's files.
enum DriveAddress: Sendable, Equatable {
  /// The base URL of an API like Google Drive v2.
  case drive(String)
  /// A read-only list like Sequencing's.
  case sequencing(String)

  /// Creates the address from the option or, without it, from the account's authorization server.
  init(_ option: String?, at server: String?) throws(Failure) {
    if let option {
      self = try Self.named(option, at: server)
    } else {
      self = try Self.known(server)
    }
  }

  /// Returns whether an address leads to a list like Sequencing's.
  static func isList(_ url: String) -> Bool {
    url.prefix { $0 != "?" }.hasSuffix("/DataSourceList")
  }

  /// Fails if a text is not a valid address, whichever account is used.
  static func check(_ option: String?) throws(Failure) {
    guard let option else { return }
    _ = try Failure.refusing(of: .drive) { () throws(SQOAuthError) in
      try ResourceOrigin(option.checkableURL)
    }
  }

  private static func named(
    _ option: String, at server: String?
  ) throws(Failure) -> DriveAddress {
    var url = option
    if url.isServerPath {
      guard let server else { throw .usage("a --drive that begins with a slash needs a provider") }
      url = try origin(server) + url
    }
    return isList(url) ? .sequencing(url) : .drive(url)
  }

  private static func known(_ server: String?) throws(Failure) -> DriveAddress {
    guard let server else { throw .usage("--drive is needed for this account") }
    let origin = try origin(server)
    switch origin {
    case "https://accounts.google.com:443":
      return .drive("https://www.googleapis.com/drive/v2")
    case "https://www.facebook.com:443":
      throw .usage("--drive is needed for this account: Facebook has no files")
    case "https://sequencing.com:443":
      return .sequencing("https://api.sequencing.com/DataSourceList?all=true")
    default:
      return .drive(origin + "/drive/v2")
    }
  }

  /// Splits a URL into its server and the rest: the path with the query.
  static func parts(of url: String) throws(SQOAuthError) -> (origin: String, endpoint: String) {
    let endpoint = url.split(separator: "/").dropFirst(2).joined(separator: "/")
    return (try ResourceOrigin(url).description, endpoint)
  }

  private static func origin(_ url: String) throws(Failure) -> String {
    try Failure.refusing { () throws(SQOAuthError) in try ResourceOrigin(url).description }
  }
}
