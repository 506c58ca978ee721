import CSQCurl
import CSQTLS
import SQBasics
import SQFiles
import SQFoundation

/// The authorities whose certificates a handle trusts.
extension CurlHandle {
  /// The file and the folder of the system's authorities; each may be missing.
  ///
  /// `SSL_CERT_FILE` and `SSL_CERT_DIR` override libcurl's file and folder. libcurl names its
  /// defaults here, not the values that were set on the handle.
  private var system: (file: String?, folder: String?) {
    (
      Self.variable("SSL_CERT_FILE") ?? Self.text(sq_get_text(easy, CURLINFO_CAINFO)),
      Self.variable("SSL_CERT_DIR") ?? Self.text(sq_get_text(easy, CURLINFO_CAPATH))
    )
  }

  /// Returns the value of an environment variable; an empty value counts as missing.
  private static func variable(_ name: String) -> String? {
    text(sq_environment(name)).flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func text(_ bytes: UnsafePointer<CChar>?) -> String? {
    bytes.map { String(cString: $0) }
  }

  /// Sets the authorities that the handle trusts, for servers and for proxies that are reached over
  /// TLS.
  ///
  /// libcurl gets additional authorities as a blob. A blob replaces the file of authorities, so the
  /// file's content is appended to the blob. A blob does not replace a folder of authorities. If
  /// there is a folder, the file is appended only if `SSL_CERT_FILE` names it, because the system's
  /// file has the same authorities as the system's folder and takes milliseconds to read.
  func setAuthorities(_ configuration: HTTPTransportConfiguration) -> Bool {
    trustsSystemAuthorities = configuration.trustsSystemAuthorities
    let (file, folder) = trustsSystemAuthorities ? system : (nil, nil)
    guard set(CURLOPT_CAINFO, text: file), set(CURLOPT_CAPATH, text: folder) else { return false }
    // A libcurl without support for https proxies rejects these options and does not need them.
    set(CURLOPT_PROXY_CAINFO, text: file)
    set(CURLOPT_PROXY_CAPATH, text: folder)
    guard var authorities = configuration.additionalAuthorities else { return true }
    let isNeeded = folder == nil || Self.variable("SSL_CERT_FILE") != nil
    if isNeeded, let file, let content = Self.content(of: file) {
      authorities += Data("\n".utf8) + content
    }
    self.authorities = authorities
    return authorities.withUnsafeBytes {
      _ = sq_set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, $0.baseAddress, $0.count)
      return sq_set_blob(easy, CURLOPT_CAINFO_BLOB, $0.baseAddress, $0.count) == CURLE_OK
    }
  }

  /// Reads a file of authorities; returns `nil` if it cannot be read or is too large.
  private static func content(of path: String) -> Data? {
    guard let file = try? FileDescriptor.reading(path, followsLink: true) else { return nil }
    defer { file.close() }
    let content = try? file.content(atMost: mostAuthorities + 1)
    return content.flatMap { $0.count <= mostAuthorities ? $0 : nil }
  }

  /// The largest file of authorities, in bytes; the system's file has about 250 kB.
  private static let mostAuthorities = 16 * 1024 * 1024

  /// Makes a TLS context trust the authorities that the handle trusts.
  ///
  /// libcurl before 8.3 hands out a context without these authorities, and adds them only when the
  /// server's first bytes arrive.
  func setAuthorities(of context: OpaquePointer) -> Bool {
    let (file, folder) = trustsSystemAuthorities ? system : (nil, nil)
    let isFilled = sq_ssl_ctx_trust_files(context, authorities == nil ? file : nil, folder)
    guard isFilled == 1 else { return false }
    guard let authorities else { return true }
    return authorities.withUnsafeBytes {
      sq_ssl_ctx_trust_pem(context, $0.baseAddress, Int32(clamping: $0.count)) == 1
    }
  }
}
