#if os(Linux)
    import CSwitchyardLibraries
    import Dispatch
    import Foundation

    /// A plain loop with libcurl's easy interface on one thread: the baseline for the asynchronous transport.
    enum BlockingCurl {
        /// One handle, one connection, `count` requests.
        static func requests(_ url: String, count: Int) async throws {
            try await onThread {
                let easy = try handle(url)
                defer { ccurl_easy_free(easy) }
                ccurl_set_write_callback(easy) { _, size, count, _ in size * count }
                for _ in 0..<count { try perform(easy) }
            }
        }

        /// One handle, one connection, `count` requests, each for the address that `url` gives.
        ///
        /// - Parameter handsOver: As for posts.
        static func gets(
            headers: [String] = [], count: Int, handsOver: Bool = false,
            _ url: @escaping @Sendable (Int) throws -> String
        ) async throws {
            let caller = SecondThread(handsOver ? count : 0)
            try await onThread {
                let easy = try handle("")
                defer { ccurl_easy_free(easy) }
                let list = headers.reduce(nil) { ccurl_list_append($0, $1) }
                defer { ccurl_list_free(list) }
                ccurl_set_pointer(easy, CCURL_OPT_HTTPHEADER, list)
                ccurl_set_write_callback(easy) { _, size, count, _ in size * count }
                for number in 0..<count {
                    if handsOver { caller.wanted.wait() }
                    defer { if handsOver { caller.answered.signal() } }
                    ccurl_set_string(easy, CCURL_OPT_URL, try url(number))
                    try perform(easy)
                }
            }
        }

        /// One handle, one connection, the same body `count` times.
        static func posts(
            _ url: String, _ body: [UInt8], headers: [String] = ["Content-Type: application/json"], count: Int
        ) async throws {
            try await posts(url, headers: headers, count: count) { _ in body }
        }

        /// One handle, one connection, `count` requests with a body from `body` for each.
        ///
        /// - Parameter handsOver: Whether a second thread requests each call and waits for its answer, with two thread switches
        ///   per request: the minimum cost of a client whose callers do not wait in the library themselves.
        static func posts(
            _ url: String, headers: [String] = ["Content-Type: application/json"], count: Int, handsOver: Bool = false,
            _ body: @escaping @Sendable (Int) -> [UInt8]
        ) async throws {
            let caller = SecondThread(handsOver ? count : 0)
            try await onThread {
                let easy = try handle(url)
                defer { ccurl_easy_free(easy) }
                let list = headers.reduce(nil) { ccurl_list_append($0, $1) }
                defer { ccurl_list_free(list) }
                ccurl_set_pointer(easy, CCURL_OPT_HTTPHEADER, list)
                ccurl_set_long(easy, CCURL_OPT_POST, 1)
                ccurl_set_write_callback(easy) { _, size, count, _ in size * count }
                for number in 0..<count {
                    if handsOver { caller.wanted.wait() }
                    defer { if handsOver { caller.answered.signal() } }
                    let body = body(number)
                    ccurl_set_offset(easy, CCURL_OPT_POSTFIELDSIZE_LARGE, Int64(body.count))
                    body.withUnsafeBytes { _ = ccurl_set_pointer(easy, CCURL_OPT_COPYPOSTFIELDS, $0.baseAddress) }
                    try perform(easy)
                }
            }
        }

        /// A thread that requests calls of another one, and waits for the answer to each.
        private struct SecondThread: Sendable {
            let wanted = DispatchSemaphore(value: 0)
            let answered = DispatchSemaphore(value: 0)

            init(_ count: Int) {
                guard count > 0 else { return }
                Thread.detachNewThread { [wanted, answered] in
                    for _ in 0..<count {
                        wanted.signal()
                        answered.wait()
                    }
                }
            }
        }

        /// Writes each piece to `descriptor` as it arrives.
        static func download(_ url: String, headers: [String] = [], to descriptor: Int32) async throws {
            try await onThread {
                let easy = try handle(url)
                defer { ccurl_easy_free(easy) }
                let list = headers.reduce(nil) { ccurl_list_append($0, $1) }
                defer { ccurl_list_free(list) }
                ccurl_set_pointer(easy, CCURL_OPT_HTTPHEADER, list)
                ccurl_set_pointer(
                    easy, CCURL_OPT_WRITEDATA, UnsafeRawPointer(bitPattern: UInt(UInt32(bitPattern: descriptor)) + 1))
                ccurl_set_write_callback(easy) { bytes, size, count, user in
                    write(Int32(UInt(bitPattern: user) - 1), bytes, size * count)
                }
                ccurl_set_long(easy, CCURL_OPT_BUFFERSIZE, 512 * 1024)
                try perform(easy)
            }
        }

        /// Reads each piece from `descriptor` on demand.
        static func upload(_ url: String, from descriptor: Int32, size: Int64) async throws {
            try await onThread {
                let easy = try handle(url)
                defer { ccurl_easy_free(easy) }
                ccurl_set_long(easy, CCURL_OPT_UPLOAD, 1)
                ccurl_set_long(easy, CCURL_OPT_UPLOAD_BUFFERSIZE, 256 * 1024)
                ccurl_set_offset(easy, CCURL_OPT_INFILESIZE_LARGE, size)
                let list = ccurl_list_append(nil, "Expect:")
                defer { ccurl_list_free(list) }
                ccurl_set_pointer(easy, CCURL_OPT_HTTPHEADER, list)
                ccurl_set_pointer(
                    easy, CCURL_OPT_READDATA, UnsafeRawPointer(bitPattern: UInt(UInt32(bitPattern: descriptor)) + 1))
                ccurl_set_read_callback(easy) { bytes, size, count, user in
                    read(Int32(UInt(bitPattern: user) - 1), bytes, size * count)
                }
                ccurl_set_write_callback(easy) { _, size, count, _ in size * count }
                try perform(easy)
            }
        }

        /// One of several consecutive requests.
        struct Part: Sendable {
            let headers: [String]
            let count: Int64
        }

        /// One handle, one connection; each part sends the next bytes of `descriptor`.
        static func send(_ method: String, _ url: String, from descriptor: Int32, parts: [Part]) async throws {
            try await onThread {
                let easy = try handle(url)
                defer { ccurl_easy_free(easy) }
                ccurl_set_long(easy, CCURL_OPT_UPLOAD, 1)
                ccurl_set_string(easy, CCURL_OPT_CUSTOMREQUEST, method)
                ccurl_set_long(easy, CCURL_OPT_UPLOAD_BUFFERSIZE, 256 * 1024)
                ccurl_set_pointer(
                    easy, CCURL_OPT_READDATA, UnsafeRawPointer(bitPattern: UInt(UInt32(bitPattern: descriptor)) + 1))
                ccurl_set_read_callback(easy) { bytes, size, count, user in
                    read(Int32(UInt(bitPattern: user) - 1), bytes, size * count)
                }
                ccurl_set_write_callback(easy) { _, size, count, _ in size * count }
                for part in parts {
                    var list = ccurl_list_append(nil, "Expect:")
                    for header in part.headers { list = ccurl_list_append(list, header) }
                    defer { ccurl_list_free(list) }
                    ccurl_set_pointer(easy, CCURL_OPT_HTTPHEADER, list)
                    ccurl_set_offset(easy, CCURL_OPT_INFILESIZE_LARGE, part.count)
                    try perform(easy)
                }
            }
        }

        private static func handle(_ url: String) throws -> ccurl_easy {
            if let problem = ccurl_load() { throw BenchFailure(String(cString: problem)) }
            guard let easy = ccurl_easy_new() else { throw BenchFailure("out of memory") }
            ccurl_set_string(easy, CCURL_OPT_URL, url)
            ccurl_set_long(easy, CCURL_OPT_NOSIGNAL, 1)
            return easy
        }

        private static func perform(_ easy: ccurl_easy) throws {
            let result = ccurl_easy_perform(easy)
            guard result == CCURL_OK else { throw BenchFailure("libcurl reports error \(result)") }
        }

        private static func onThread(_ run: @escaping @Sendable () throws -> Void) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread { continuation.resume(with: Result { try run() }) }
            }
        }
    }
#endif
