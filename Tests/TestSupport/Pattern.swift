package import Foundation

/// Bytes in which a part that is missing, doubled or in another place shows.
///
/// They are a block that is repeated, whose length is prime: to compute each takes a minute where
/// code is neither optimized nor left alone by a sanitizer, and holds up all that runs meanwhile.
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
