package import Foundation

/// Returns bytes in which a test can detect a part that is missing, doubled or in a wrong place.
///
/// They repeat a block whose length is prime. Computing each byte would take a minute without
/// optimization and with a sanitizer, and would delay all other tests.
package func pattern(_ count: Int, seed: UInt32 = 1) -> Data {
  var state = seed
  let block = Data(
    (0..<min(count, 16_381)).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    })
  var data = Data(capacity: count)
  while data.count < count { data.append(block.prefix(count - data.count)) }
  return data
}
