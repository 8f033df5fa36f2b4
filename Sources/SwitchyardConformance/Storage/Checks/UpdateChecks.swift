import Switchyard

extension StorageConformance {
    static let updateChecks: [StorageCheck] = [
        StorageCheck("a merge writes the given fields and leaves the others") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "old", "number": 1])
            try await context.store.merge(path, ["number": 2])
            try await context.store.expect(path, holds: ["text": "old", "number": 2])
        },
        StorageCheck("a merge creates a missing document") { context in
            let path = context.document("a")
            try await context.store.merge(path, ["text": "new"])
            try await context.store.expect(path, holds: ["text": "new"])
        },
        StorageCheck("a merge removes the named fields") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "old", "number": 1])
            try await context.store.merge(path, ["text": .delete])
            let snapshot = try await context.store.read(path)
            try context.store.expectNothing(snapshot, at: "text")
            try expectEqual(snapshot["number"]?.integerValue, 1, "the other field")
        },
        StorageCheck("a merge goes into nested maps", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["m": ["x": 1, "y": ["p": 1, "q": 2]], "z": 3])
            try await context.store.merge(path, ["m": ["y": ["q": 20, "r": 30]]])
            try await context.store.expect(path, holds: ["m": ["x": 1, "y": ["p": 1, "q": 20, "r": 30]], "z": 3])
        },
        StorageCheck("a merge replaces arrays as a whole", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["list": [1, 2, 3]])
            try await context.store.merge(path, ["list": [4]])
            try await context.store.expect(path, holds: ["list": [4]])
        },
        StorageCheck("a merge of an empty map replaces what was there", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["m": ["x": 1], "z": 3])
            try await context.store.merge(path, ["m": [:]])
            try await context.store.expect(path, holds: ["m": [:], "z": 3])
        },
        StorageCheck("a merge with a map where a number was replaces the number", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["m": 5])
            try await context.store.merge(path, ["m": ["x": 1]])
            try await context.store.expect(path, holds: ["m": ["x": 1]])
        },
        StorageCheck("a merge without fields creates an empty document", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.merge(path, [:])
            try expectEqual(try await context.store.read(path).data, DocumentData(), "the document's data")
            try await context.store.merge(path, ["a": 1])
            try await context.store.merge(path, [:])
            try await context.store.expect(path, holds: ["a": 1])
        },
        StorageCheck("a merge with a mask writes only what that names") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "old", "number": 1])
            try await context.store.commit(.merge(path, ["text": "new", "number": 2], mask: ["number"]))
            try await context.store.expect(path, holds: ["text": "old", "number": 2])
        },
        StorageCheck("a merge with a mask of a nested field replaces that field as a whole", needs: .openTypes) {
            context in
            let path = context.document("a")
            try await context.store.set(path, ["m": ["x": ["p": 1, "q": 2], "y": 1]])
            try await context.store.commit(.merge(path, ["m": ["x": ["p": 10], "y": 2]], mask: ["m.x"]))
            try await context.store.expect(path, holds: ["m": ["x": ["p": 10], "y": 1]])
        },
        StorageCheck("an update writes the given fields and leaves the others") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "old", "number": 1])
            try await context.store.update(path, ["text": "new"])
            try await context.store.expect(path, holds: ["text": "new", "number": 1])
        },
        StorageCheck("an update of a missing document fails and makes none") { context in
            let path = context.document("a")
            try await context.store.expectFailure(.notFound, in: "the update") {
                try await context.store.update(path, ["text": "new"])
            }
            try await context.store.expectMissing(path)
        },
        StorageCheck("a patch is an update by another name") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "old", "number": 1])
            try await context.client.updateDocument(path, ["number": 5]).acknowledged()
            try await context.store.expect(path, holds: ["text": "old", "number": 5])
        },
        StorageCheck("an update removes the named fields") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "old", "number": 1])
            try await context.store.update(path, ["text": .delete, "number": 2])
            let snapshot = try await context.store.read(path)
            try context.store.expectNothing(snapshot, at: "text")
            try expectEqual(snapshot["number"]?.integerValue, 2, "the other field")
        },
        StorageCheck("an update by path touches only that part of a map", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["m": ["x": 1, "y": ["p": 1, "q": 2]]])
            try await context.store.update(path, ["m.y.p": 10, "m.z": 5])
            try await context.store.expect(path, holds: ["m": ["x": 1, "y": ["p": 10, "q": 2], "z": 5]])
        },
        StorageCheck("an update replaces the map at its path as a whole", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["m": ["x": ["p": 1, "q": 2], "y": 1]])
            try await context.store.update(path, ["m.x": ["p": 10]])
            try await context.store.expect(path, holds: ["m": ["x": ["p": 10], "y": 1]])
        },
        StorageCheck("an update by path makes the maps that it needs", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["n": 1])
            try await context.store.update(path, ["a.b.c": 1, "n.x": 2])
            try await context.store.expect(path, holds: ["a": ["b": ["c": 1]], "n": ["x": 2]])
        },
        StorageCheck("an update removes a nested field and leaves its neighbours", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["m": ["x": 1, "y": 2], "n": ["only": 1]])
            try await context.store.update(path, ["m.x": .delete, "n.only": .delete, "o.nothing": .delete])
            let snapshot = try await context.store.read(path)
            try expectEqual(snapshot["m"], ["y": 2], "the map that lost a field")
            try expectEqual(snapshot["n.only"], nil, "the only field of the other map")
        },
        StorageCheck("an update finds field names that need quoting", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(
                path, ["a.b": 1, "a": ["b": 2], "x`y": 3, "back\\slash": 4, "sp ace": ["in.ner": 5], "é": 6])
            try await context.store.update(
                path,
                [
                    "`a.b`": 10, "`x\\`y`": 30, "`back\\\\slash`": 40, "`sp ace`.`in.ner`": 50, "é": 60,
                    "first-name": 70,
                ])
            try await context.store.expect(
                path,
                holds: [
                    "a.b": 10, "a": ["b": 2], "x`y": 30, "back\\slash": 40, "sp ace": ["in.ner": 50], "é": 60,
                    "first-name": 70,
                ])
        },
        StorageCheck("dots in the names of a set or merge are part of the name", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["a.b": 1])
            try await context.store.merge(path, ["a.c": 2])
            try await context.store.expect(path, holds: ["a.b": 1, "a.c": 2])
        },
        StorageCheck("updates from two devices of different fields both stay") { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["text": "x", "number": 0])
            async let one: Void = context.store.update(path, ["text": "y"])
            async let two: Void = other.update(path, ["number": 7])
            _ = try await (one, two)
            try await context.store.expect(path, holds: ["text": "y", "number": 7])
        },
    ].within("updates")

    static let preconditionChecks: [StorageCheck] = [
        StorageCheck("a write that needs the document to exist fails without it") { context in
            let path = context.document("a")
            try await context.store.expectFailure(.notFound, in: "the write") {
                try await context.store.commit(try .set(path, ["text": "x"]).requiring(.exists(true)))
            }
            try await context.store.expectMissing(path)
            try await context.store.set(path, ["text": "x"])
            try await context.store.commit(try .set(path, ["text": "y"]).requiring(.exists(true)))
            try await context.store.expect(path, holds: ["text": "y"])
        },
        StorageCheck("a merge that needs the document not to exist fails with it") { context in
            let path = context.document("a")
            try await context.store.commit(try .merge(path, ["text": "x"]).requiring(.exists(false)))
            try await context.store.expectFailure(.alreadyExists, in: "the second merge") {
                try await context.store.commit(try .merge(path, ["text": "y"]).requiring(.exists(false)))
            }
            try await context.store.expect(path, holds: ["text": "x"])
        },
        StorageCheck("a deletion that needs the document to exist fails without it") { context in
            let path = context.document("a")
            try await context.store.expectFailure(.notFound, in: "the deletion") {
                try await context.store.commit(.delete(path).requiring(.exists(true)))
            }
        },
        StorageCheck("a write with the current version is carried out", needs: .versions) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let version = try expectValue(try await context.store.read(path).updateTime, "a version")
            try await context.store.commit(try .merge(path, ["number": 2]).requiring(.updateTime(version)))
            try await context.store.expect(path, holds: ["number": 2])
        },
        StorageCheck("a write with an old version is refused", needs: .versions) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let version = try expectValue(try await context.store.read(path).updateTime, "a version")
            try await context.store.set(path, ["number": 2])
            for write in [try DocumentWrite.set(path, ["number": 3]), .delete(path), try .merge(path, ["number": 4])] {
                try await context.store.expectFailure(.failedPrecondition, in: "a write with the old version") {
                    try await context.store.commit(write.requiring(.updateTime(version)))
                }
            }
            try await context.store.expect(path, holds: ["number": 2])
        },
        StorageCheck("a write with a version of a document that is gone is refused", needs: .versions) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let version = try expectValue(try await context.store.read(path).updateTime, "a version")
            try await context.store.delete(path)
            try await context.store.expectFailure(.failedPrecondition, in: "the write") {
                try await context.store.commit(try .set(path, ["number": 2]).requiring(.updateTime(version)))
            }
            try await context.store.expectMissing(path)
        },
        StorageCheck("a deletion with the current version is carried out", needs: .versions) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let version = try expectValue(try await context.store.read(path).updateTime, "a version")
            try await context.store.commit(.delete(path).requiring(.updateTime(version)))
            try await context.store.expectMissing(path)
        },
        StorageCheck("a version written by one device holds for another", needs: .versions) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let version = try expectValue(try await other.read(path).updateTime, "a version")
            try await other.commit(try .set(path, ["number": 2]).requiring(.updateTime(version)))
            try await context.store.expectFailure(.failedPrecondition, in: "the write with the old version") {
                try await context.store.commit(try .set(path, ["number": 3]).requiring(.updateTime(version)))
            }
        },
    ].within("preconditions")
}
