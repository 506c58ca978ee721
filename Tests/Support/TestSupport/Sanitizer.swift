import Foundation

/// The sanitizer that the tests run under, `thread` or `address`, or `nil`.
package let sanitizer = ProcessInfo.processInfo.environment["SANITIZE"]

/// Whether the tests run under a sanitizer, with its additional memory and libraries.
package let isSanitized = sanitizer != nil
