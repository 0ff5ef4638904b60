# sarif.jq - whether a log is valid by the schema of SARIF 2.1.0 (OASIS, with
# errata 01), as far as we write it: which properties an object may have of
# those that we use, which it must have, and of what type they are. The schema
# allows no others than its own; a property that is new here is looked up there
# first. True, or an error that names the object.
def object($name; $may; $must):
	if type != "object" then error("\($name): no object")
	elif (keys - $may) != [] then error("\($name): has \(keys - $may)")
	elif ($must - keys) != [] then error("\($name): lacks \($must - keys)")
	else . end;
def text: object("message"; ["text"]; ["text"]) | .text | type == "string";
def level: IN("none", "note", "warning", "error");
def location:
	object("location"; ["physicalLocation", "message"]; [])
	| (.message | text)
	and (.physicalLocation
		| object("physicalLocation"; ["artifactLocation", "region"];
			["artifactLocation"])
		| (.artifactLocation
			| object("artifactLocation"; ["uri", "uriBaseId"]; ["uri"])
			| (.uri | test("^[A-Za-z0-9/._~%:-]+$"))
			and (has("uriBaseId") == (.uri | startswith("file:") | not)))
		and (.region | object("region"; ["startLine"]; [])
			| .startLine >= 1 and .startLine == (.startLine | floor)));
def rule:
	object("reportingDescriptor"; ["id", "shortDescription", "help",
		"defaultConfiguration"]; ["id"])
	| (.shortDescription | text) and (.help | text)
	and (.defaultConfiguration.level | level);
def result($rules):
	object("result"; ["ruleId", "ruleIndex", "level", "message", "locations",
		"relatedLocations", "partialFingerprints"]; ["message"])
	| (.message | text) and (.level | level)
	and .ruleId == $rules[.ruleIndex].id
	and all((.locations // [])[], (.relatedLocations // [])[]; location)
	and all(.partialFingerprints[]; type == "string");
def run:
	object("run"; ["tool", "results"]; ["tool"])
	| (.tool | object("tool"; ["driver"]; ["driver"]) | .driver
		| object("toolComponent"; ["name", "version", "rules"]; ["name"])
		| all(.rules[]; rule))
	and (.tool.driver.rules as $rules | all(.results[]; result($rules)));
object("sarifLog"; ["$schema", "version", "runs"]; ["version", "runs"])
| .version == "2.1.0" and all(.runs[]; run)
