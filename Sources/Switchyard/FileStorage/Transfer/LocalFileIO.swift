#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The system's own calls, where their names hide behind those of methods.
package enum LocalFileIO {
    /// - Returns: The system's error, if there was one.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                #if canImport(Glibc)
                    let count = Glibc.write(descriptor, piece.baseAddress, piece.count)
                #elseif canImport(Musl)
                    let count = Musl.write(descriptor, piece.baseAddress, piece.count)
                #else
                    let count = Darwin.write(descriptor, piece.baseAddress, piece.count)
                #endif
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno
                }
                rest = rest.dropFirst(count)
            }
            return nil
        }
    }
}
