import SequencingOAuth
import Testing

extension Trait where Self == ConditionTrait {
  /// Runs the test only with a libcurl that has the newer HTTP/2, or only with one that has not.
  static func libcurl(hasNewHTTP2: Bool) -> Self {
    .enabled("needs libcurl \(hasNewHTTP2 ? "8.14 or newer" : "before 8.14")") {
      LibcurlVersion.hasNewHTTP2 == hasNewHTTP2
    }
  }
}
