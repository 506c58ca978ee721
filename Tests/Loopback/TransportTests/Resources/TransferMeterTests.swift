import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport

/// A meter that reports one progress for several attempts of a transfer.
@Suite(.timeLimit(.minutes(1))) struct TransferMeterTests {
  private let told = Told()

  private var meter: TransferMeter { TransferMeter { [told] in told.add($0) } }
  private var counts: [Int64] { told.all.map(\.completed) }

  @Test func `the progress of a second attempt is reported when it exceeds that of the first`() {
    let meter = meter
    for completed in [0, 40, 80, 100, 0, 50, 80, 90, 100] as [Int64] {
      meter.advance(to: completed, of: 100)
    }
    #expect(counts == [0, 40, 80, 90])
    meter.finish()
    meter.finish()
    meter.advance(to: 100, of: 100)
    #expect(counts == [0, 40, 80, 90, 100])
    #expect(told.all.filter { $0.fraction == 1 }.count == 1)
  }

  @Test func `if the total is unknown, the last report has the final count as the total`() {
    let meter = meter
    for completed in [0, 70, 0, 60] as [Int64] { meter.advance(to: completed, of: nil) }
    meter.finish()
    #expect(told.all.map(\.fraction) == [nil, nil, 1])
    #expect(counts == [0, 70, 60])
  }

  @Test func `the fraction does not fall when the total changes`() {
    let meter = meter
    for (completed, total) in [(50, 100), (60, 1000), (40, 50), (90, 100)] as [(Int64, Int64)] {
      meter.advance(to: completed, of: total)
    }
    meter.finish()
    #expect(counts == [50, 90, 100])
  }

  @Test func `a transfer of zero bytes is complete at once`() {
    let meter = meter
    meter.advance(to: 0, of: 0)
    meter.finish()
    #expect(told.all == [TransferProgress(completed: 0, total: 0)])
    #expect(TransferProgress(completed: 0, total: 0).fraction == 1)
  }

  @Test(arguments: [true, false])
  func `an upload that is rejected and repeated reports its total once`(
    isReplayed: Bool
  ) async throws {
    let server = try Server { _, count in
      .response(LoopbackResponse(status: isReplayed && count == 0 ? 401 : 200))
    }
    var request = try server.request("POST")
    try request.setForm([.data("a", Data(count: 700_000)), .field("b", "c")])
    let meter = meter
    meter.followUpload(of: &request)
    let client = CurlTransport()
    while try await client.send(request).status == 401 {}
    meter.finish()
    let seen = told.all
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.completed < $1.completed })
    #expect(seen.count > 2)
    #expect(seen.filter { $0.fraction == 1 } == Array(seen.suffix(1)))
    let length = try #require(server.requests.last).body.count
    #expect(seen.last == TransferProgress(completed: Int64(length), total: Int64(length)))
  }
}

/// A record of the reported progress.
private final class Told: Sendable {
  private let progress = Locked<[TransferProgress]>([])

  var all: [TransferProgress] { progress.withLock { $0 } }

  func add(_ one: TransferProgress) {
    progress.withLock { $0.append(one) }
  }
}
