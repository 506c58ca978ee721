import CSQPostgreSQL
import SQBasics
import SQFiles
import SQFoundation
import SQLibC
import SequencingOAuth

/// The parameters of a connection: the app's connection string plus the store's defaults.
///
/// The values may contain a password, so no message shows them.
struct ConnectionSettings: Redacted {
  /// The values of libpq's parameters, by keyword.
  private(set) var values: [String: String]

  /// Reads a connection string: a URI, or `keyword=value` pairs.
  ///
  /// - Throws: `invalidConfiguration`. The error does not contain libpq's message, because libpq
  ///   quotes a part of the string, possibly the password.
  init(_ string: String, environment: [String: String]) throws(SQOAuthError) {
    values = try Self.parse(string)
    guard Self.isWhole(values, string) else { throw Self.notUnderstood }
    for keyword in Self.files {
      values[keyword] = values[keyword].map { Self.lastingPath($0, keyword) }
    }
    // An empty environment variable sets no server, no `sslmode` and no trusted authority.
    let environment = environment.filter { !$0.value.isEmpty }
    let service = Self.service(values, environment)
    let isLocal = Self.isLocal(values, environment)
    if values["sslmode"] == nil, environment["PGSSLMODE"] == nil, service["sslmode"] == nil,
      !isLocal
    {
      values["sslmode"] = "verify-full"
    }
    // Not for `verify-ca`, which accepts any server's name: anyone can get a certificate of a public
    // authority.
    let mode = values["sslmode"] ?? service["sslmode"] ?? environment["PGSSLMODE"]
    if mode == "verify-full", values["sslrootcert"] == nil,
      environment["PGSSLROOTCERT"] == nil, service["sslrootcert"] == nil,
      !Self.hasAuthority(environment), let bundle = Self.systemBundle
    {
      values["sslrootcert"] = bundle
    }
    // If there are several servers, only the primary can save.
    if values["target_session_attrs"] == nil, service["target_session_attrs"] == nil,
      Self.hosts(service.merging(values) { $1 }, environment).count > 1
    {
      values["target_session_attrs"] = "read-write"
    }
    for (keyword, value) in Self.defaults where values[keyword] == nil && service[keyword] == nil {
      values[keyword] = value
    }
    values["client_encoding"] = "UTF8"
  }

  /// The parameters that apply unless the string or a service file sets them.
  ///
  /// The times are in seconds; `tcp_user_timeout` is in milliseconds.
  private static let defaults = [
    "connect_timeout": "5", "keepalives_idle": "10", "keepalives_interval": "5",
    "keepalives_count": "3", "tcp_user_timeout": "20000",
    "fallback_application_name": "SequencingOAuth",
  ]

  /// The parameters that name files, which libpq reads again for each connection.
  private static let files = [
    "passfile", "servicefile", "sslcert", "sslcrl", "sslcrldir", "sslkey", "sslkeylogfile",
    "sslrootcert",
  ]

  /// Returns a parameter's value as an absolute path, unless the value does not name a file.
  ///
  /// An absolute path still names the same file after a chdir(2). Two values do not name a file:
  /// libpq takes the word `system` for the system's authorities, and a key with a colon for the
  /// name of a key in an engine of OpenSSL.
  private static func lastingPath(_ value: String, _ keyword: String) -> String {
    if keyword == "sslrootcert", value == "system" { return value }
    let path = AbsolutePath.of(value)
    return keyword == "sslkey" && path.contains(":") ? value : path
  }

  private static func parse(_ string: String) throws(SQOAuthError) -> [String: String] {
    guard !string.utf8.contains(0) else { throw notUnderstood }
    guard let options = PQconninfoParse(string, nil) else { throw notUnderstood }
    defer { PQconninfoFree(options) }
    return read(options)
  }

  /// Returns the parameters that have a value; libpq ignores an empty parameter when it connects.
  private static func read(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
    var values: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val, value.pointee != 0 {
        values[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    return values
  }

  /// Returns the parameters of a libpq service file; the string's parameters override them.
  ///
  /// Only libpq knows where the file is and how to read it. An invalid `channel_binding` makes
  /// libpq stop after reading the file, before it connects.
  private static func service(
    _ values: [String: String], _ environment: [String: String]
  ) -> [String: String] {
    guard let name = values["service"] ?? environment["PGSERVICE"] else { return [:] }
    let (found, others) = (settings(["service": name]), settings([:]))
    return found.filter { $0.key != "service" && $0.value != others[$0.key] }
  }

  /// Returns all parameters that libpq would use if the app gave only `values`.
  private static func settings(_ values: [String: String]) -> [String: String] {
    let pairs = values.merging(["channel_binding": "none of libpq's"]) { $1 }
      .map { ($0.key, $0.value) }
    let handle = Connection.withCStrings(pairs.map(\.0)) { keywords in
      Connection.withCStrings(pairs.map(\.1)) { PQconnectStartParams(keywords, $0, 0) }
    }
    defer { PQfinish(handle) }
    guard let handle, let options = PQconninfo(handle) else { return [:] }
    defer { PQconninfoFree(options) }
    var found = read(options)
    found["channel_binding"] = nil
    return found
  }

  /// Returns whether the user has libpq's default file of trusted authorities.
  private static func hasAuthority(_ environment: [String: String]) -> Bool {
    let home = environment["HOME"] ?? listedHome()
    return home.map { access("\($0)/.postgresql/root.crt", F_OK) == 0 } ?? false
  }

  /// Returns the user's home folder from the system's list of users, as libpq does without `HOME`.
  ///
  /// This method calls getpwuid_r(3), because getpwuid(3) would change the entry that another
  /// thread reads. `size` is the number of bytes for the texts of the user's entry.
  private static func listedHome(size: Int = 1024) -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var error: Int32 = 0
    let home = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { texts -> String? in
      guard let first = texts.baseAddress else { return nil }
      error = getpwuid_r(geteuid(), &entry, first, size, &found)
      return found == nil ? nil : String(cString: entry.pw_dir)
    }
    return error == ERANGE && size < 1 << 20 ? listedHome(size: 2 * size) : home
  }

  private static let notUnderstood = SQOAuthError(
    .invalidConfiguration,
    "the connection string of the token database is malformed; write it as "
      + "postgresql://user@host:port/database?parameter=value, with special characters as %XX")

  /// Returns `false` if libpq took a part of an unescaped password for a server, port or database.
  ///
  /// libpq ends the password of a URI at the first `@`, and finds no password if a `/` comes before
  /// that `@`. It would then look up a part of the password as a host name, and errors would show
  /// that part.
  private static func isWhole(_ values: [String: String], _ string: String) -> Bool {
    let hosts = (values["host"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
    // The name of an abstract socket begins with `@`, and the path of a folder may contain it.
    guard hosts.allSatisfy({ $0.hasPrefix("/") || !$0.dropFirst().contains("@") }) else {
      return false
    }
    let ports = (values["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
    guard ports.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
      return false
    }
    // In a URI, an `@` in the name of a database must be written as %40.
    guard string.hasPrefix("postgres://") || string.hasPrefix("postgresql://") else { return true }
    let start = string.prefix { $0 != "?" }
    let parts = start.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return start.count { $0 == "@" } <= 1 && parts.dropFirst(3).allSatisfy { !$0.contains("@") }
  }

  // MARK: The server's location

  /// Returns whether all servers are on this machine, at a local socket or a loopback address.
  private static func isLocal(
    _ values: [String: String], _ environment: [String: String]
  ) -> Bool {
    // A service file may name any server.
    guard values["service"] == nil, environment["PGSERVICE"] == nil else { return false }
    return hosts(values, environment).allSatisfy { host in
      host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || isLoopback(host)
    }
  }

  /// Returns the servers that libpq would connect to; an empty name is the default local socket.
  private static func hosts(
    _ values: [String: String], _ environment: [String: String]
  ) -> [Substring] {
    func list(_ text: String?) -> [Substring] {
      (text ?? "").split(separator: ",", omittingEmptySubsequences: false)
    }
    let names = list(values["host"] ?? environment["PGHOST"])
    guard let addresses = values["hostaddr"] ?? environment["PGHOSTADDR"] else { return names }
    // libpq reaches a server without an address by its name. If there are names, it demands as
    // many names as addresses.
    return list(addresses).enumerated().map { index, address in
      address.isEmpty && index < names.count ? names[index] : address
    }
  }

  private static func isLoopback(_ host: Substring) -> Bool {
    if host == "localhost" { return true }
    var (v4, v6) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, String(host), &v4) == 1 {
      return UInt32(bigEndian: v4.s_addr) >> 24 == 127
    }
    guard inet_pton(AF_INET6, String(host), &v6) == 1 else { return false }
    return withUnsafeBytes(of: v6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
  }

  /// The system's file of trusted authorities, which libpq 15 does not find by itself.
  private static let systemBundle: String? = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ].first { access($0, R_OK) == 0 }
}
