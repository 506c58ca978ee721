package import SequencingOAuth

extension HTTPTransportConfiguration {
  /// The default configuration, but without the proxies of the environment.
  package static var direct: Self {
    var configuration = Self()
    configuration.proxy = .none
    return configuration
  }
}
