# If this fails, a report cannot be sent to anybody: it is not there, too large, asks the network, runs what a name says, or is another one each time.
source test/tap.bash

# A thread reads a file again that another one's journal pushes out; names that would be markup.
hostile='</script><img src=x onerror=alert(1)>'
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,data/one,0,8388608'
	echo '0,1,exists,log/two<b>&,0,8388608'
	for turn in 1 2 3; do
		echo "$turn"'000000000,1,read,data/one,0,8388608'
		echo "$turn"'500000000,2,read,log/two<b>&,0,8388608'
		echo "$turn"'900000000,2,mark,<i>'"$turn"',0,0'
	done
} >"$scratch/two.csv"
replay() { "$REFAULT" replay "$scratch/two.csv" --device nvme-tlc --stream "^data=$hostile" --cgroup-limit "$@"; }

exits 2 'nowhere to write' "$REFAULT" report @last
says err '-o FILE.html'
exits 2 'nothing kept' "$REFAULT" report @last -o "$scratch/none.html"
exits 0 'a run' replay 12MiB
exits 0 'its report' "$REFAULT" report @last -o "$scratch/one.html" --json
says out '"blame-1"'
ok 'once more, the same bytes' sh -c '"$0" report @last -o - | cmp - "$1"' "$REFAULT" "$scratch/one.html"

# The file alone: well-formed enough, nothing from anywhere, no tag by a name, the data whole.
cat >"$scratch/check.py" <<'END'
import html.parser, json, sys
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.texts, self.data, self.links = [], {}, set(), [], {}, []
        self.inside = None
    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name in ("src", "href", "data", "xlink:href"):
            if name in attributes:
                self.links.append(attributes[name])
        assert not any(name.startswith("on") for name in attributes), attributes
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag == "script":
            self.inside = attributes.get("id")
        if tag not in ("meta", "link", "br", "img", "line", "rect"):
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
    def handle_endtag(self, tag):
        if tag in ("rect", "line"):
            return
        assert self.open.pop() == tag, tag
    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            if self.inside:
                self.data[self.inside] = json.loads(text)
        elif not self.open or self.open[-1] != "style":
            self.texts.append(text)
text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
assert all(link.startswith("#") and link[1:] in page.ids for link in page.links), page.links
assert "http:" not in text and "https:" not in text
assert "img" not in page.tags and page.tags["h1"] == 1
assert len(text) - len(json.dumps(page.data)) < 1500000
for chart in page.data["charts"]:
    assert chart["name"] in page.ids, chart["name"]
    assert all(len(s["x"]) == len(s["y"]) for s in chart["series"])
assert page.tags.get("figure") == page.tags.get("figcaption") and page.tags["table"] == page.tags["caption"]
everything = "".join(page.texts)
for wanted in sys.argv[2:]:
    assert wanted in everything, wanted
json.dump(page.data, sys.stdout)
END
page() { python3 "$scratch/check.py" "$@"; }
ok 'it is whole, and alone' page "$scratch/one.html" "$hostile" '<i>2' 'Who evicted whom' 'How to repeat it' \
	"refault replay $scratch/two.csv --cgroup-limit 12582912" 'nvme-tlc' '12 MiB (a memory cgroup'
page "$scratch/one.html" >"$scratch/held"
"$REFAULT" show @last --json >"$scratch/shown"
ok 'the result is in it as it was printed' python3 - "$scratch/held" "$scratch/shown" <<'END'
import json, sys
data, shown = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
assert data["runs"][0]["result"] == shown
END

# JSON instead of a kept run: the same charts; a story has more of them.
exits 0 'a file of JSON' "$REFAULT" report "$scratch/shown" -o "$scratch/file.html" --json
ok 'draws the same' python3 - "$scratch/out" "$scratch/held" <<'END'
import json, sys
told, data = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
assert [n for n in told["charts"] if n.startswith(("time", "latency"))] == [c["name"] for c in data["charts"]]
END
"$REFAULT" explain "$scratch/two.csv" --cgroup-limit 12MiB --json >"$scratch/story.json"
exits 0 'a story' "$REFAULT" report "$scratch/story.json" -o "$scratch/story.html" --svg "$scratch/svg" --json
says out '"distance"'
says out '"ranges"'
says out '"evictors"'
ok 'its page' page "$scratch/story.html" 'Refault distance' 'log/two<b>&'
ok 'its pictures are XML, each as its page says' python3 - "$scratch/out" "$scratch/svg" <<'END'
import json, os, sys, xml.etree.ElementTree as tree
charts = json.load(open(sys.argv[1]))["charts"]
assert sorted(n + ".svg" for n in charts) == sorted(os.listdir(sys.argv[2])) and len(charts) > 5
for name in charts:
    root = tree.parse(os.path.join(sys.argv[2], name + ".svg")).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.find("{http://www.w3.org/2000/svg}title").text and root.find("{http://www.w3.org/2000/svg}desc").text
END
"$REFAULT" export @last --json >"$scratch/exported.json"
ok 'what export printed' sh -c '"$0" report - -o "$1/piped.html" <"$1/exported.json"' "$REFAULT" "$scratch"
exits 0 'and by its name' "$REFAULT" report "$scratch/exported.json" -o "$scratch/exported.html"
ok 'with its command' page "$scratch/exported.html" "refault replay $scratch/two.csv"

# Sizes of memory: a curve with its knee; policies: what differs.
for memory in 14MiB 17MiB 24MiB; do replay "$memory" >/dev/null; done
exits 0 'four sizes of memory' "$REFAULT" report @-4 @-3 @-2 @last @last -o "$scratch/curve.html" --json
says out '"curve-again"'
ok 'the knee' page "$scratch/curve.html" '90 % of the re-reads are gone at' '4 runs'
exits 0 'policies' replay 12MiB --policy linux-6.18 --policy linux-4.5
exits 0 'side by side' "$REFAULT" report @-2 @last -o "$scratch/two.html"
ok 'what differs' page "$scratch/two.html" 'activate_on_write' 'No difference in what is read again'
exits 0 'a plain cache' "$REFAULT" replay "$scratch/two.csv" --bare --pages 100
exits 0 'has a report too' "$REFAULT" report @last -o "$scratch/bare.html"
ok 'in which misses are what counts' page "$scratch/bare.html" 'of the look-ups miss' '100 pages'

# What is no run.
echo '{"a": 1}' >"$scratch/other.json"
exits 2 'another JSON' "$REFAULT" report "$scratch/other.json" -o "$scratch/none.html"
says err 'no result is in it'
echo '{"runs": [' >"$scratch/half.json"
exits 2 'half a file' "$REFAULT" report "$scratch/half.json" -o "$scratch/none.html"
says err 'half.json'
exits 2 'no file' "$REFAULT" report "$scratch/no.json" -o "$scratch/none.html"
says err 'cannot open'
exits 2 'no run' "$REFAULT" report feed1234 -o "$scratch/none.html"
exits 1 'nowhere' "$REFAULT" report @last -o "$scratch/no/none.html"
says err 'cannot write'
ok 'and nothing was written' test ! -e "$scratch/none.html"
tap_done
