import SQBasics
import SequencingOAuth

/// The options for connections to servers: trusted authorities, the proxy, and the client's own
/// certificate.
///
/// They are not stored with accounts, because they belong to the network in which the program runs.
struct NetworkOptions: Sendable {
  static let options: [Option] = [.authorities, .proxy, .clientCertificate, .certificateKey]

  /// The HTTP client of all requests.
  let transport: CurlTransport
  /// The options as the user typed them, for a command that the user can copy.
  let words: [String]

  var configuration: HTTPTransportConfiguration { transport.configuration }

  /// Creates the settings for a command line without options for connections.
  init() {
    transport = CurlTransport(configuration: Self.standard)
    words = []
  }

  /// Reads the options, and the files that they name.
  init(_ arguments: Arguments) throws(Failure) {
    var configuration = Self.standard
    if let path = arguments[.authorities] {
      configuration.additionalAuthorities = try PEMFile.certificates(at: path, of: .authorities)
    }
    if let text = arguments[.proxy] {
      configuration.proxy = try ProxyAddress(text, password: arguments.secrets.proxyPassword).proxy
    }
    configuration.clientCertificate = try Self.certificate(arguments)
    transport = CurlTransport(configuration: configuration)
    words = Self.options.flatMap { option in arguments[option].map { [option.name, $0] } ?? [] }
  }

  /// The settings without options; the field `User-Agent` names this program and the SDK.
  private static var standard: HTTPTransportConfiguration {
    var configuration = HTTPTransportConfiguration()
    configuration.userAgent =
      "sq-demo/\(Release.version) \(HTTPTransportConfiguration.defaultUserAgent)"
    return configuration
  }

  private static func certificate(
    _ arguments: Arguments
  ) throws(Failure) -> HTTPTransportConfiguration.ClientCertificate? {
    guard let path = arguments[.clientCertificate] else {
      guard !arguments.contains(.certificateKey) else {
        throw .usage("\(Option.certificateKey.name) needs \(Option.clientCertificate.name)")
      }
      return nil
    }
    return try PEMFile.pair(at: path, keyAt: arguments[.certificateKey])
  }
}
