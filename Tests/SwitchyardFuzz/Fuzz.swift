// Finds what no test thought of. Not part of a normal build, for libFuzzer brings its own `main`:
//
//     SWITCHYARD_FUZZ=1 swift build --build-path .build-fuzz --sanitize=fuzzer --product SwitchyardFuzz \
//         -Xswiftc -parse-as-library
//     .build-fuzz/debug/SwitchyardFuzz -max_total_time=600 -max_len=4096 corpus/
//
// Whatever the bytes are, what reads them must not crash, and must come to the same end however they are cut. The first
// byte chooses the reader, the second the cut.
import SwitchyardBytes
import SwitchyardWire

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 2 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: start + 2, count: count - 2))
    let cut = Int(start[1]) * bytes.count / 256
    switch start[0] % 4 {
    case 0: fuzzDocument(bytes, cut)
    case 1: fuzzElements(bytes, cut)
    case 2: fuzzFrames(bytes, cut, .client)
    default: fuzzFrames(bytes, cut, .server)
    }
    return 0
}

/// One text, whole and in two pieces; what is accepted survives being written.
private func fuzzDocument(_ bytes: [UInt8], _ cut: Int) {
    let whole = try? JSON(parsing: bytes)
    if let whole { check((try? JSON(parsing: whole.bytes())) == whole, "written otherwise") }
    var stream = JSONStream(.document)
    let streamed = try? { () throws(JSONError) -> JSON? in
        stream.append(bytes[..<cut])
        let early = try stream.next()
        stream.append(bytes[cut...])
        stream.finish()
        let late = try stream.next()
        let rest = try stream.next()
        return early ?? late ?? rest
    }()
    check(streamed == whole, "streamed otherwise")
}

private func fuzzElements(_ bytes: [UInt8], _ cut: Int) {
    func elements(_ cuts: [Int]) -> ([JSON], hasFailed: Bool) {
        var stream = JSONStream(.elements)
        var all: [JSON] = []
        var start = 0
        do throws(JSONError) {
            for end in cuts + [bytes.count] {
                stream.append(bytes[start..<end])
                if end == bytes.count { stream.finish() }
                while let element = try stream.next() { all.append(element) }
                start = end
            }
            return (all, false)
        } catch {
            return (all, true)
        }
    }
    let (whole, pieces) = (elements([]), elements([cut]))
    check(whole.hasFailed == pieces.hasFailed && whole.0 == pieces.0, "elements otherwise")
}

private func fuzzFrames(_ bytes: [UInt8], _ cut: Int, _ role: WebSocketRole) {
    func events(_ cuts: [Int]) -> ([WebSocketDecoder.Event], WebSocketViolation?) {
        var decoder = WebSocketDecoder(role: role, limits: WebSocketLimits(frameSize: 1024, messageSize: 2048))
        var events: [WebSocketDecoder.Event] = []
        var start = 0
        do throws(WebSocketViolation) {
            for end in cuts + [bytes.count] {
                try bytes[start..<end].withUnsafeBufferPointer { piece throws(WebSocketViolation) in
                    try decoder.decode(UnsafeRawBufferPointer(piece), into: &events)
                }
                start = end
            }
            return (events, nil)
        } catch {
            return (events, error)
        }
    }
    let (whole, pieces) = (events([]), events([cut]))
    check(whole == pieces, "frames otherwise")
}

private func check(_ holds: Bool, _ what: String) {
    if !holds { fatalError(what) }
}
