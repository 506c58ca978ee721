import Foundation
import SQBasics
import SQFiles
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// The safe defaults of a connection that the app describes only in part.
@Suite struct ConnectionSettingsTests {
  private func values(
    _ connection: String, _ environment: [String: String] = [:]
  ) throws -> [String: String] {
    try ConnectionSettings(connection, environment: environment).values
  }

  @Test(arguments: [
    "postgresql://app@db.example/app", "host=db.example", "hostaddr=192.0.2.1",
    "postgresql://app@localhost,db.example/app", "service=production", "host=127.0.0.1.example",
    "host=::2", "host=128.0.0.1",
  ])
  func `a server on another machine must show a certificate`(connection: String) throws {
    let values = try values(connection)
    #expect(values["sslmode"] == "verify-full")
    #expect(values["sslrootcert"]?.hasPrefix("/etc/") == true)
  }

  /// When libpq connects, it ignores an empty value in the string and in the environment.
  @Test(
    arguments: [
      ("host=db.example hostaddr=''", [:]), ("host=db.example", ["PGHOSTADDR": ""]),
      ("host=''", ["PGHOST": "db.example"]), ("hostaddr=''", ["PGHOSTADDR": "192.0.2.1"]),
      ("host=localhost,db.example hostaddr=127.0.0.1,", [:]),
      ("host=db.example,localhost hostaddr=,127.0.0.1", [:]),
      ("postgresql://db.example/x?sslmode=", [:]), ("host=db.example", ["PGSSLMODE": ""]),
      ("host=db.example sslrootcert=''", ["PGSSLROOTCERT": "", "HOME": ""]),
    ] as [(String, [String: String])])
  func `an empty value does not free a server on another machine from the certificate`(
    connection: String, environment: [String: String]
  ) throws {
    let values = try values(connection, environment)
    #expect(values["sslmode"] == "verify-full")
    #expect(values["sslrootcert"]?.hasPrefix("/etc/") == true)
  }

  /// libpq reads files that a process's environment names, so the test runs in its own process.
  @Test(.ownThreads) func `the settings of a service file replace the defaults`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      try Data(
        """
        [one]
        host=db.example,other.example
        sslmode=verify-ca
        sslrootcert=/etc/own.crt
        connect_timeout=7
        target_session_attrs=read-only
        [two]
        host=db.example,other.example
        """.utf8
      ).write(to: URL(filePath: folder.file("services")))
      setenv("PGSERVICEFILE", folder.file("services"), 1)
      setenv("HOME", folder.path, 1)
      let one = try ConnectionSettings("service=one", environment: ["HOME": folder.path]).values
      for name in ["sslmode", "sslrootcert", "connect_timeout", "target_session_attrs", "host"] {
        #expect(one[name] == nil, "\(name)")
      }
      #expect(one["keepalives"] == nil && one["keepalives_idle"] == "10")
      let string = try ConnectionSettings(
        "service=one sslmode=require connect_timeout=3", environment: ["HOME": folder.path]
      ).values
      #expect(string["sslmode"] == "require" && string["connect_timeout"] == "3")
      let two = try ConnectionSettings("service=two", environment: ["HOME": folder.path]).values
      #expect(two["sslmode"] == "verify-full" && two["sslrootcert"]?.hasPrefix("/etc/") == true)
      #expect(two["target_session_attrs"] == "read-write" && two["connect_timeout"] == "5")
      // A user's own certificate authority is used, as libpq's users expect.
      try FileManager.default.createDirectory(
        atPath: folder.file(".postgresql"), withIntermediateDirectories: true)
      try Data().write(to: URL(filePath: folder.file(".postgresql/root.crt")))
      let own = try ConnectionSettings("service=two", environment: ["HOME": folder.path]).values
      #expect(own["sslmode"] == "verify-full" && own["sslrootcert"] == nil)
    }
  }

  @Test(arguments: [
    "", "dbname=app", "host=/run/postgresql", "postgresql://app@localhost/app", "host=127.0.0.1",
    "host=127.8.9.10", "host=::1", "postgresql://app@[::1]:5433/app", "host=@abstract",
    "host='' hostaddr=''", "hostaddr=127.0.0.1,", "host=db.example,localhost hostaddr=127.0.0.1,",
  ])
  func `a server on this machine needs no certificate`(connection: String) throws {
    #expect(try values(connection)["sslmode"] == nil)
  }

  @Test(arguments: [
    "postgresql://app:x%40y%2Fz@127.0.0.1:5432/app", "host=@abstract,@another port=1,2",
    "postgresql://app@a:1,b/x%40y?application_name=a@b", "host=a,b port=,5433", "dbname=x@y",
    "postgresql://%2Frun%2Fpostgresql/app", "postgres://[::1]:5433",
    "postgresql://?host=/run/x@y",
  ])
  func `connection strings with special characters are accepted`(connection: String) throws {
    _ = try values(connection)
  }

  @Test func `settings of the app or the environment replace the defaults`() throws {
    #expect(try values("host=db.example sslmode=require")["sslmode"] == "require")
    #expect(try values("host=db.example", ["PGSSLMODE": "disable"])["sslmode"] == nil)
    #expect(try values("", ["PGHOST": "db.example"])["sslmode"] == "verify-full")
    let own = try values("host=db.example sslrootcert=/own.pem connect_timeout=60")
    #expect(own["sslrootcert"] == "/own.pem" && own["connect_timeout"] == "60")
    #expect(try values("host=db.example", ["PGSSLROOTCERT": "/own.pem"])["sslrootcert"] == nil)
  }

  /// Anyone can get a certificate of a public authority, for a name of their own.
  @Test func `verify-ca, which accepts any name, does not trust the system's authorities`() throws {
    let folder = try TemporaryFolder()
    let (string, home) = ("host=db.example sslmode=verify-ca", ["HOME": folder.path])
    #expect(try values(string, home)["sslrootcert"] == nil)
    let environment = home.merging(["PGSSLMODE": "verify-ca"]) { $1 }
    #expect(try values("host=db.example", environment)["sslrootcert"] == nil)
  }

  @Test func `if PGSSLMODE is verify-full, the system's authorities are trusted by default`() throws
  {
    let folder = try TemporaryFolder()
    var environment = ["PGSSLMODE": "verify-full", "HOME": folder.path]
    let values = try values("host=db.example", environment)
    #expect(values["sslmode"] == nil)
    #expect(values["sslrootcert"]?.hasPrefix("/etc/") == true)
    environment["PGSSLROOTCERT"] = "/own.pem"
    #expect(try self.values("host=db.example", environment)["sslrootcert"] == nil)
    environment["PGSSLROOTCERT"] = nil
    // A user's own certificate authority is used, as libpq's users expect.
    try FileManager.default.createDirectory(
      atPath: folder.file(".postgresql"), withIntermediateDirectories: true)
    try Data().write(to: URL(filePath: folder.file(".postgresql/root.crt")))
    #expect(try self.values("host=db.example", environment)["sslrootcert"] == nil)
  }

  /// libpq reads the files again for each connection, perhaps in another working directory.
  @Test func `relative paths of files are made absolute`() throws {
    let values = try values(
      "host=db.example sslrootcert=own.pem sslcert=./own.crt sslkey=a/own.key passfile=/own.pass")
    for (keyword, end) in ["sslrootcert": "own.pem", "sslcert": "own.crt", "sslkey": "a/own.key"] {
      #expect(values[keyword] == AbsolutePath.of(end))
      #expect(values[keyword]?.hasPrefix("/") == true)
    }
    #expect(values["passfile"] == "/own.pass")
    let others = try self.values("host=db.example sslrootcert=system sslkey=engine:own")
    #expect(others["sslrootcert"] == "system" && others["sslkey"] == "engine:own")
  }

  /// The test runs in its own process, because all threads share the entry of getpwuid(3).
  @Test(.ownThreads)
  func `without HOME, an entry that the app read with getpwuid is not overwritten`()
    async
  {
    await #expect(processExitsWith: .success) {
      let users: [uid_t] = [0, 1, 2, 65534]
      let user = try #require(users.first { $0 != geteuid() && getpwuid($0) != nil })
      let entry = try #require(getpwuid(user))
      let name = String(cString: entry.pointee.pw_name)
      _ = try ConnectionSettings("host=db.example sslmode=verify-full", environment: [:])
      #expect(String(cString: entry.pointee.pw_name) == name && entry.pointee.pw_uid == user)
    }
  }

  @Test func `with several servers, the primary is used unless the app sets target_session_attrs`()
    throws
  {
    #expect(try values("host=a,b")["target_session_attrs"] == "read-write")
    #expect(try values("host=a")["target_session_attrs"] == nil)
    #expect(try values("host=a,b target_session_attrs=any")["target_session_attrs"] == "any")
  }

  @Test(arguments: ["", "pg_own", "pg_\u{301}", String(repeating: "x", count: 64), "a\u{0}b"])
  func `a schema name that PostgreSQL does not allow is rejected`(name: String) throws {
    let error = try #require(throws: SQOAuthError.self) { try DatabaseSchema(name) }
    #expect(error.code == .invalidConfiguration)
  }

  /// Swift takes a quote and a combining mark after it for one `Character`.
  @Test func `each quote in a schema name is doubled, also beside a combining mark`() throws {
    let schema = try DatabaseSchema("a\"\u{301}b'\u{301}c")
    #expect(schema.name == "\"a\"\"\u{301}b'\u{301}c\"")
    let statements = AccountStatements(schema: schema.name)
    let literal = "'\"a\"\"\u{301}b''\u{301}c\".accounts'"
    #expect(statements.canWrite.text.utf8.contains(literal.utf8))
  }
}
