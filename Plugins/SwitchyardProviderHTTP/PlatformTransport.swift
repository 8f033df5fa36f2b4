package import SwitchyardWire

#if !os(Linux)
    import SwitchyardURLSession
#endif

package enum PlatformTransport {
    /// What the platform moves bytes with.
    package static func make() -> any Transport {
        #if os(Linux)
            CurlTransport()
        #else
            URLSessionTransport()
        #endif
    }
}
