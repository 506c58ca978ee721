import CSQCurl
import CSQTLS
import SQBasics
import SQCrypto
import SQFiles
import SQFoundation
import SQLibC

/// The authorities whose certificates a handle trusts.
extension CurlHandle {
  /// The file and the folder of the system's authorities; each may be missing.
  ///
  /// `SSL_CERT_FILE` and `SSL_CERT_DIR` override libcurl's file and folder. libcurl names its
  /// defaults here, not the values that were set on the handle. A libcurl without defaults may leave
  /// the choice to OpenSSL, but no longer does so once a handle has additional authorities.
  private var system: (file: String?, folder: String?) {
    let file = Self.variable("SSL_CERT_FILE") ?? Self.text(sq_get_text(easy, CURLINFO_CAINFO))
    let folder = Self.variable("SSL_CERT_DIR") ?? Self.text(sq_get_text(easy, CURLINFO_CAPATH))
    guard file == nil, folder == nil else { return (file, folder) }
    let ofOpenSSL = Self.text(X509_get_default_cert_file())
    return (
      ofOpenSSL.flatMap { access($0, R_OK) == 0 ? $0 : nil },
      Self.text(X509_get_default_cert_dir())
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
    let isChosen = Self.variable("SSL_CERT_FILE") != nil
    if folder == nil || isChosen, let file {
      do throws(FileFailure) {
        authorities += Data("\n".utf8) + (try Self.content(of: file))
      } catch {
        // A small image may lack the system's file.
        if isChosen || error.code != ENOENT { unreadAuthorities = error }
      }
    }
    self.authorities = authorities
    return authorities.withUnsafeBytes {
      _ = sq_set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, $0.baseAddress, $0.count)
      return sq_set_blob(easy, CURLOPT_CAINFO_BLOB, $0.baseAddress, $0.count) == CURLE_OK
    }
  }

  private static func content(of path: String) throws(FileFailure) -> Data {
    let content = try FileDescriptor.content(
      of: path, followsLink: true, atMost: mostAuthorities + 1)
    guard content.count <= mostAuthorities else {
      throw FileFailure("it has more than \(mostAuthorities) bytes", code: EFBIG)
    }
    return content
  }

  /// Throws if a connection to a server would lack authorities that the handle must trust.
  func checkAuthorities(for target: RequestTarget) throws(SQOAuthError) {
    guard target.isSecure, let unreadAuthorities else { return }
    throw SQOAuthError(
      .tlsFailed,
      "no trusted TLS connection to \(target.authority): the authorities that the client trusts "
        + "cannot be read: check the file in SSL_CERT_FILE or, without that variable, the system's "
        + "(\(unreadAuthorities))", cause: FileError(unreadAuthorities))
  }

  /// The largest file of authorities, in bytes; the system's file has about 250 kB.
  private static let mostAuthorities = 16 * 1024 * 1024

  /// Makes a TLS context trust the authorities that the handle trusts.
  ///
  /// libcurl before 8.3 hands out a context without these authorities, and adds them only when the
  /// server's first bytes arrive.
  func setAuthorities(of context: OpaquePointer) -> Bool {
    let (file, folder) = trustsSystemAuthorities ? system : (nil, nil)
    return OpenSSL.leavingNoErrors {
      let isFilled = sq_ssl_ctx_trust_files(context, authorities == nil ? file : nil, folder)
      guard isFilled == 1 else { return false }
      guard let authorities else { return true }
      return authorities.withUnsafeBytes {
        sq_ssl_ctx_trust_pem(context, $0.baseAddress, Int32(clamping: $0.count)) == 1
      }
    }
  }
}
