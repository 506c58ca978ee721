package import SequencingOAuth

extension HTTPClientConfiguration {
  /// The default, without a look at the environment's proxies.
  package static var direct: Self {
    var configuration = Self()
    configuration.proxy = .none
    return configuration
  }
}
