// Declarations of swift-metrics 2.10.1, November 2026. Only type-checked.
@_exported import CoreMetrics
@_exported import class CoreMetrics.Timer

extension Timer {
    @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
    public func record(duration: Duration) {}
}
