import SwitchyardBytes
import SwitchyardTestSupport
import Testing

struct JSONStreamTests {
    /// Everything a stream gives for chunks, and the error that ended it.
    private func read(
        _ chunks: [some Collection<UInt8>], as shape: JSONStream.Shape, options: JSONParsingOptions = .init()
    ) -> (values: [JSON], error: JSONError?) {
        var stream = JSONStream(shape, options: options)
        var values: [JSON] = []
        do throws(JSONError) {
            for chunk in chunks {
                stream.append(chunk)
                while let value = try stream.next() { values.append(value) }
            }
            stream.finish()
            while let value = try stream.next() { values.append(value) }
            return (values, nil)
        } catch {
            return (values, error)
        }
    }

    private static let elements = #"""
         [ {"document":{"name":"a/\"b\\","n":[1,{"x":"]}"}]},"t":"é😀"} , 12, -1.5e3,"s,]\"",[ ],{},null ,true,false, "\ud83d\ude00" ]
        """#

    @Test func `Elements are the same wherever the text is cut`() throws {
        let text = Array(Self.elements.utf8)
        let expected = try #require(try JSON(parsing: text).array)
        for cut in 0...text.count {
            let (values, error) = read([text[..<cut], text[cut...]], as: .elements)
            #expect(values == expected && error == nil, "cut at \(cut)")
        }
        let (values, error) = read(text.map { CollectionOfOne($0) }, as: .elements)
        #expect(values == expected && error == nil)
    }

    @Test func `Every pair of cuts gives the same elements`() throws {
        let text = Array(#"[{"a":"\\\"]"},[1,"\u0022"],-10,"é"]"#.utf8)
        let expected = try #require(try JSON(parsing: text).array)
        for first in 0...text.count {
            for second in first...text.count {
                let (values, error) = read([text[..<first], text[first..<second], text[second...]], as: .elements)
                #expect(values == expected && error == nil, "cut at \(first) and \(second)")
            }
        }
    }

    @Test func `An element is given with its last byte, a number with the byte after it`() throws {
        var stream = JSONStream(.elements)
        stream.append(#"[{"a":1"#.utf8)
        #expect(try stream.next() == nil)
        stream.append("}".utf8)
        #expect(try stream.next() == ["a": 1])
        stream.append(",12".utf8)
        #expect(try stream.next() == nil)
        stream.append("3".utf8)
        #expect(try stream.next() == nil)
        stream.append("]".utf8)
        #expect(try stream.next() == 123)
        stream.finish()
        #expect(try stream.next() == nil)
    }

    @Test func `Values follow one another, cut anywhere`() {
        let text = Array("{\"a\":1}{\"b\":[2]}\n[3] \"x\" true 12".utf8)
        let expected: [JSON] = [["a": 1], ["b": [2]], [3], "x", true, 12]
        for cut in 0...text.count {
            let (values, error) = read([text[..<cut], text[cut...]], as: .values)
            #expect(values == expected && error == nil, "cut at \(cut)")
        }
        #expect(read([Array(" \n".utf8)], as: .values).error == nil)
    }

    @Test func `A document is one value, cut anywhere`() {
        let text = Array(" {\"a\":[1,2.5,\"é\"]} ".utf8)
        for cut in 0...text.count {
            let (values, error) = read([text[..<cut], text[cut...]], as: .document)
            #expect(values == [["a": [1, 2.5, "é"]]] && error == nil, "cut at \(cut)")
        }
        #expect(read([Array("12".utf8)], as: .document).values == [12])
        #expect(read([Array("{} x".utf8)], as: .document).error == JSONError(.trailingBytes, at: 3))
    }

    @Test(arguments: [
        ("", 0, JSONError.Reason.unexpectedEnd), ("[", 1, .unexpectedEnd), ("[1", 2, .unexpectedEnd),
        ("[1,", 3, .unexpectedEnd),
        ("[{\"a\":", 6, .unexpectedEnd), ("[\"x", 3, .unexpectedEnd), ("{}", 0, .unexpectedByte),
        ("[1,]", 3, .unexpectedByte),
        ("[,1]", 1, .unexpectedByte), ("[1 2]", 3, .unexpectedByte), ("[1}", 2, .unexpectedByte),
        ("[1]]", 3, .trailingBytes),
        ("[1] 2", 4, .trailingBytes), ("[tru]", 4, .unexpectedByte), ("[1,truefalse]", 7, .unexpectedByte),
        ("[1,{\"a\":1,\"a\":2}]", 10, .duplicateKey), ("[1,[2}]", 5, .unexpectedByte),
        ("[1,\"\u{1}\"]", 4, .controlCharacter),
        ("[01]", 2, .malformedNumber), ("[1,x]", 3, .unexpectedByte), ("[1:2]", 2, .unexpectedByte),
    ]) func `A flaw is found at its byte, wherever the text is cut`(
        _ text: String, _ offset: Int, _ reason: JSONError.Reason
    ) {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            let (_, error) = read([bytes[..<cut], bytes[cut...]], as: .elements)
            #expect(error == JSONError(reason, at: offset), "cut at \(cut)")
        }
        #expect(throws: JSONError.self) {
            try JSON(parsing: text).array ?? { throw JSONError(.unexpectedByte, at: 0) }()
        }
    }

    @Test func `Elements before a flaw are given, and the error stays`() throws {
        var stream = JSONStream(.elements)
        stream.append("[1,2,oops".utf8)
        #expect(try stream.next() == 1)
        #expect(try stream.next() == 2)
        let error = JSONError(.unexpectedByte, at: 5)
        #expect(throws: error) { try stream.next() }
        stream.append("]".utf8)
        stream.finish()
        #expect(throws: error) { try stream.next() }
    }

    @Test func `Depth and length are limited before a value is complete`() {
        var deep = JSONStream(.elements, options: .init(maximumDepth: 3))
        deep.append("[[[1]],[[[".utf8)
        #expect(throws: Never.self) { try deep.next() }
        #expect(throws: JSONError(.tooDeep, at: 9)) { try deep.next() }
        var long = JSONStream(.values, maximumLength: 10)
        long.append("\"123456789012345".utf8)
        #expect(throws: JSONError(.tooLong, at: 0)) { try long.next() }
        #expect(read([String(repeating: "[", count: 513).utf8], as: .elements).error?.reason == .tooDeep)
        let whole = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(read([whole.utf8], as: .elements).error == nil)
    }

    @Test func `Offsets count from the start of a long stream`() {
        var stream = JSONStream(.elements)
        stream.append("[0".utf8)
        for _ in 0..<1000 {
            stream.append(",{\"a\":1}".utf8)
            while (try? stream.next()) != nil {}
        }
        stream.append(",}".utf8)
        #expect(throws: JSONError(.unexpectedByte, at: 2 + 8000 + 1)) { try stream.next() }
    }

    @Test func `The bytes of a value are given as they are`() throws {
        var stream = JSONStream(.elements)
        stream.append(#"[ {"a": 1.0 } , 1e2]"#.utf8)
        #expect(try stream.nextBytes() == Array(#"{"a": 1.0 }"#.utf8))
        #expect(try stream.nextBytes() == Array("1e2".utf8))
        #expect(try stream.nextBytes() == nil)
    }

    @Test func `Keys that look alike stay what they are from one value to the next`() throws {
        // As long, and with the same first, middle and last letter; longer than a string holds without memory of its own.
        let keys = (0..<500).map { "a\($0 % 10)\($0 / 10 % 10)aaaaaaaaaamaaaaaaaaaa\($0 / 100)a" }
        var stream = JSONStream(.values)
        for (number, key) in keys.enumerated() {
            stream.append(Array("{\"\(key)\":\(number),\"\\u0061\":0} ".utf8))
            #expect(try stream.next() == .object([key: .integer(Int64(number)), "a": 0]))
        }
    }

    @Test func `Random documents in random chunks come back whole`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            let elements = (0..<Int.random(in: 0...6, using: &random)).map { _ in JSONSamples.value(&random) }
            let text = JSON.array(elements).bytes(.init(isPretty: .random(using: &random)))
            var chunks: [ArraySlice<UInt8>] = []
            var rest = text[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...20, using: &random)
                chunks.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            let (values, error) = read(chunks, as: .elements)
            #expect(values == elements && error == nil)
        }
    }
}
