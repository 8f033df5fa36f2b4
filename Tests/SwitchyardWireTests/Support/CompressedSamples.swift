/// Bodies compressed by tools that are not ours.
enum CompressedSamples {
    static func pack(_ text: String, _ coding: String) throws -> [UInt8] {
        let file = try TemporaryFile(Array(text.utf8))
        return try run("data = open(sys.argv[1], 'rb').read()", file.path, coding)
    }

    static func zeros(_ count: Int, _ coding: String) throws -> [UInt8] {
        try run("data = bytes(\(count))", "", coding)
    }

    /// Python's own module makes gzip; Brotli's encoder is the library beside the decoder.
    private static func run(_ source: String, _ path: String, _ coding: String) throws -> [UInt8] {
        let program =
            coding == "gzip"
            ? "packed = gzip.compress(data)"
            : """
            library = ctypes.CDLL('libbrotlienc.so.1')
            size = ctypes.c_size_t(len(data) + 1024)
            room = ctypes.create_string_buffer(size.value)
            assert library.BrotliEncoderCompress(5, 22, 0, ctypes.c_size_t(len(data)), data, ctypes.byref(size), room)
            packed = room.raw[:size.value]
            """
        return try ToolProcess.output(
            "python3", "-c", "import ctypes, gzip, sys\n\(source)\n\(program)\nsys.stdout.buffer.write(packed)", path)
    }
}
