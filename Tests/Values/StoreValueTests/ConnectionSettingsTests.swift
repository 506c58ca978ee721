import SequencingOAuth
import Testing

@testable import SequencingOAuthPostgreSQL

/// A connection that the app describes in part is a safe one.
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

  @Test(arguments: [
    "", "dbname=app", "host=/run/postgresql", "postgresql://app@localhost/app", "host=127.0.0.1",
    "host=127.8.9.10", "host=::1", "postgresql://app@[::1]:5433/app", "host=@abstract",
  ])
  func `a server on this machine needs none`(connection: String) throws {
    #expect(try values(connection)["sslmode"] == nil)
  }

  @Test(arguments: [
    "postgresql://app:x%40y%2Fz@127.0.0.1:5432/app", "host=@abstract,@another port=1,2",
    "postgresql://app@a:1,b/x%40y?application_name=a@b", "host=a,b port=,5433", "dbname=x@y",
    "postgresql://%2Frun%2Fpostgresql/app", "postgres://[::1]:5433",
    "postgresql://?host=/run/x@y",
  ])
  func `names with special characters are understood`(connection: String) throws {
    _ = try values(connection)
  }

  @Test func `what the app or the environment says is obeyed`() throws {
    #expect(try values("host=db.example sslmode=require")["sslmode"] == "require")
    #expect(try values("host=db.example", ["PGSSLMODE": "disable"])["sslmode"] == nil)
    #expect(try values("", ["PGHOST": "db.example"])["sslmode"] == "verify-full")
    let own = try values("host=db.example sslrootcert=/own.pem connect_timeout=60")
    #expect(own["sslrootcert"] == "/own.pem" && own["connect_timeout"] == "60")
    #expect(try values("host=db.example", ["PGSSLROOTCERT": "/own.pem"])["sslrootcert"] == nil)
  }

  @Test func `of several servers the primary is used`() throws {
    #expect(try values("host=a,b")["target_session_attrs"] == "read-write")
    #expect(try values("host=a")["target_session_attrs"] == nil)
    #expect(try values("host=a,b target_session_attrs=any")["target_session_attrs"] == "any")
  }

  @Test(arguments: ["", "pg_own", String(repeating: "x", count: 64), "a\u{0}b"])
  func `a schema's name that the server cannot have is refused`(name: String) throws {
    let error = try #require(throws: SQOAuthError.self) { try DatabaseSchema(name) }
    #expect(error.code == .invalidConfiguration)
  }
}
