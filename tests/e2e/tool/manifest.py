"""What scripts/containers/kubernetes.yaml asks for, as contained.py has it: manifest.py FILE init|main FOLDER.

Volumes lie in FOLDER, one folder each, those in memory as a tmpfs. A line for each option, and after `--` the command.
"""
import os
import sys

import yaml

UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}

with open(sys.argv[1], encoding="utf-8") as file:
    pod = yaml.safe_load(file)["spec"]["template"]["spec"]
container = pod["initContainers" if sys.argv[2] == "init" else "containers"][0]
volumes = {volume["name"]: volume for volume in pod["volumes"]}
print("uid=%d" % pod["securityContext"]["runAsUser"])
if pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault":
    print("seccomp")
if container["securityContext"]["readOnlyRootFilesystem"]:
    print("ro")
for place in container["volumeMounts"]:
    empty = volumes[place["name"]]["emptyDir"]
    if empty.get("medium") == "Memory":
        print("tmpfs=%s:%d" % (place["mountPath"], int(empty["sizeLimit"][:-2]) * UNITS[empty["sizeLimit"][-2:]]))
        continue
    folder = os.path.join(sys.argv[3], place["name"])
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)  # fsGroup
    print("mount=%s:%s%s" % (folder, place["mountPath"], ":ro" if place.get("readOnly") else ""))
for row in container.get("env", []):
    print("%s=%s" % (row["name"], row["value"]))
print("--")
print("\n".join(container["command"]))
