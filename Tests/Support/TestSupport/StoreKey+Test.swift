import Foundation
package import SequencingOAuth

extension StoreKey {
  /// A key for all tests that need any key.
  package static let testKey = StoreKey.raw(Data(repeating: 7, count: 32))
  /// A key that does not open what ``testKey`` sealed.
  package static let otherTestKey = StoreKey.raw(Data(repeating: 8, count: 32))
}
