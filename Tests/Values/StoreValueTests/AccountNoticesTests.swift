import SQBasics
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// The observers of other hosts' notices, without a database.
@Suite struct AccountNoticesTests {
  @Test func `an observer's object may use the store when it is released`() throws {
    let notices = AccountNotices(
      try ConnectionSettings("host=127.0.0.1", environment: [:]),
      AccountStatements(schema: "sequencing_oauth"))
    // Without this call, the first observer would start to connect.
    notices.close()
    let observed = Locked<[String]>(["?"])
    let observer = notices.observe("a") {
      [caller = Caller { observed.withLock { $0 = notices.observedIDs } }] in
      withExtendedLifetime(caller) {}
    }
    notices.end(observer, of: "a")
    #expect(observed.withLock(\.self) == [])
  }
}
