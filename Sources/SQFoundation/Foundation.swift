// The one place that chooses between the two forms of Foundation: FoundationEssentials, which loads
// neither ICU nor networking, where it exists, as on Linux.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
