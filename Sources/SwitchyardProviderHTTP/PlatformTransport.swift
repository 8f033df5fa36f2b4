package import Switchyard
package import SwitchyardWire

#if !os(Linux)
    import SwitchyardURLSession
#endif

package enum PlatformTransport {
    /// Creates the transport for this platform.
    package static func make(_ limits: CallLimits = CallLimits()) -> any Transport {
        #if os(Linux)
            var configuration = CurlConfiguration()
            configuration.maximumExchangesPerOrigin = limits.underWay
            configuration.maximumWaitingPerOrigin = limits.waiting
            return CurlTransport(configuration)
        #else
            return URLSessionTransport(connectionsPerHost: limits.underWay)
        #endif
    }
}
