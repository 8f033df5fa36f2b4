import SwitchyardWire

#if !os(Linux)
    import SwitchyardURLSession
#endif

enum FirebaseTransport {
    /// What the platform moves bytes with.
    static func make() -> any Transport {
        #if os(Linux)
            CurlTransport()
        #else
            URLSessionTransport()
        #endif
    }
}
